"""The one base class of every contract: frozen, closed and strict."""

import pydantic


class Value(pydantic.BaseModel):
    """An immutable value with a closed schema; wrong types and unknown fields are errors."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=True)
