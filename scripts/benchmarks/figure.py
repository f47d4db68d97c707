"""A measured figure, and how it is printed."""

import json
import sys
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Figure:
    """A value with its unit and target; `better` says on which side of the target is good."""

    name: str
    value: float
    unit: str
    target: float
    better: Literal["higher", "lower"]

    @property
    def ok(self) -> bool:
        """Whether the target is met."""
        if self.better == "higher":
            return self.value >= self.target
        return self.value <= self.target


def show(figure: Figure) -> None:
    """Print one figure as a JSON object on a line of its own."""
    sign = ">=" if figure.better == "higher" else "<="
    line = {
        "name": figure.name,
        "value": round(figure.value, 4),
        "unit": figure.unit,
        "target": f"{sign} {figure.target:g}",
        "ok": figure.ok,
    }
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()
