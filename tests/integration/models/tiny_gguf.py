"""Tiny models with random weights and a real vocabulary: quick to run, and talking nonsense.

`write` takes the tokenizer of a whole GGUF file and puts one small layer behind it, a transformer's
or, for memory that cannot be trimmed, a recurrent one.
"""

import pathlib
import random
import struct
import types
from array import array
from collections.abc import Mapping

_WIDTH, _HEADS, _VOCABULARY = 32, 2, 49152
_STRING, _ARRAY, _U32, _F32 = 8, 9, 4, 6
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_ALIGNMENT = 32
_TEMPLATE = "tokenizer.chat_template"
_TOKEN_TYPE = b"tokenizer.ggml.token_type"
_CONTROL, _USER_DEFINED = 3, 4
_AS_THEY_ARE: Mapping[str, str] = types.MappingProxyType({})

_Tensors = list[tuple[str, tuple[int, ...]]]
_KEYS: dict[str, dict[str, int | float]] = {
    "llama": {
        "feed_forward_length": 2 * _WIDTH,
        "attention.head_count": _HEADS,
        "attention.head_count_kv": _HEADS,
        "rope.dimension_count": _WIDTH // _HEADS,
    },
    "mamba": {
        "feed_forward_length": 0,
        "attention.head_count": 0,
        "ssm.conv_kernel": 4,
        "ssm.inner_size": 2 * _WIDTH,
        "ssm.state_size": 8,
        "ssm.time_step_rank": 4,
    },
}
_LAYERS: dict[str, _Tensors] = {
    "llama": [
        ("blk.0.attn_norm.weight", (_WIDTH,)),
        ("blk.0.attn_q.weight", (_WIDTH, _WIDTH)),
        ("blk.0.attn_k.weight", (_WIDTH, _WIDTH)),
        ("blk.0.attn_v.weight", (_WIDTH, _WIDTH)),
        ("blk.0.attn_output.weight", (_WIDTH, _WIDTH)),
        ("blk.0.ffn_norm.weight", (_WIDTH,)),
        ("blk.0.ffn_gate.weight", (_WIDTH, 2 * _WIDTH)),
        ("blk.0.ffn_up.weight", (_WIDTH, 2 * _WIDTH)),
        ("blk.0.ffn_down.weight", (2 * _WIDTH, _WIDTH)),
    ],
    "mamba": [
        ("blk.0.attn_norm.weight", (_WIDTH,)),
        ("blk.0.ssm_in.weight", (_WIDTH, 4 * _WIDTH)),
        ("blk.0.ssm_conv1d.weight", (4, 2 * _WIDTH)),
        ("blk.0.ssm_conv1d.bias", (2 * _WIDTH,)),
        ("blk.0.ssm_x.weight", (2 * _WIDTH, 4 + 2 * 8)),
        ("blk.0.ssm_dt.weight", (4, 2 * _WIDTH)),
        ("blk.0.ssm_dt.bias", (2 * _WIDTH,)),
        ("blk.0.ssm_a", (8, 2 * _WIDTH)),
        ("blk.0.ssm_d", (2 * _WIDTH,)),
        ("blk.0.ssm_out.weight", (2 * _WIDTH, _WIDTH)),
    ],
}


def write(
    architecture: str,
    vocabulary_of: pathlib.Path,
    target: pathlib.Path,
    template: str = "",
    renamed: Mapping[str, str] = _AS_THEY_ARE,
) -> None:
    """Write a model of the architecture ("llama" or "mamba") with another file's tokenizer.

    It may have a chat template instead of that file's, and other names for some of its tokens.
    """
    tokenizer = _tokenizer(vocabulary_of)
    for old, new in renamed.items():
        tokenizer = [pair.replace(_text(old), _text(new)) for pair in tokenizer]
    if template:
        tokenizer = [pair for pair in tokenizer if not pair.startswith(_text(_TEMPLATE))]
        tokenizer.append(_text(_TEMPLATE) + struct.pack("<I", _STRING) + _text(template))
    keys: dict[str, int | float] = {
        "context_length": 4096,
        "embedding_length": _WIDTH,
        "block_count": 1,
        "attention.layer_norm_rms_epsilon": 1e-5,
        **_KEYS[architecture],
    }
    pairs = [_text("general.architecture") + struct.pack("<I", _STRING) + _text(architecture)]
    pairs += [_number(f"{architecture}.{name}", value) for name, value in keys.items()]
    pairs += tokenizer
    tensors = [
        ("token_embd.weight", (_WIDTH, _VOCABULARY)),
        ("output_norm.weight", (_WIDTH,)),
        *_LAYERS[architecture],
    ]
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(pairs)) + b"".join(pairs)
    body = bytearray()
    for name, shape in tensors:
        head += _text(name) + struct.pack("<I", len(shape))
        head += struct.pack(f"<{len(shape)}QIQ", *shape, 0, len(body))
        body += _weights(name, shape)
    target.write_bytes(head + bytes(-len(head) % _ALIGNMENT) + body)


def user_defined(source: pathlib.Path, target: pathlib.Path) -> None:
    """A copy of the model that calls its control tokens user-defined, as some files do."""
    data = bytearray(source.read_bytes())
    at = data.index(_TOKEN_TYPE) + len(_TOKEN_TYPE)
    kind, element, count = struct.unpack_from("<IIQ", data, at)
    assert (kind, element) == (9, 5)
    for index in range(count):
        place = at + 16 + 4 * index
        if struct.unpack_from("<i", data, place)[0] == _CONTROL:
            struct.pack_into("<i", data, place, _USER_DEFINED)
    target.write_bytes(data)


def _weights(name: str, shape: tuple[int, ...]) -> bytes:
    """Random but the same each time; what is called ssm_a must be negative."""
    count = 1
    for length in shape:
        count *= length
    if "norm" in name:
        return array("f", [1.0] * count).tobytes()
    chance = random.Random(name)
    few = [chance.gauss(0.0, 0.3) for _ in range(min(count, 100_003))]
    if name.endswith("ssm_a"):
        few = [-abs(value) - 0.1 for value in few]
    return array("f", (few * (count // len(few) + 1))[:count]).tobytes()


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def _number(name: str, value: int | float) -> bytes:
    if isinstance(value, float):
        return _text(name) + struct.pack("<If", _F32, value)
    return _text(name) + struct.pack("<II", _U32, value)


def _tokenizer(source: pathlib.Path) -> list[bytes]:
    """The key-value pairs about the tokenizer, as the file has them."""
    data = source.read_bytes()[:16_000_000]
    (count,) = struct.unpack_from("<Q", data, 16)
    at, pairs = 24, []
    for _ in range(count):
        (length,) = struct.unpack_from("<Q", data, at)
        name = data[at + 8 : at + 8 + length]
        (kind,) = struct.unpack_from("<I", data, at + 8 + length)
        end = _after(data, at + 12 + length, kind)
        if name.startswith(b"tokenizer."):
            pairs.append(data[at:end])
        at = end
    return pairs


def _after(data: bytes, at: int, kind: int) -> int:
    """Where a value of the kind ends."""
    if kind == _STRING:
        return at + 8 + int(struct.unpack_from("<Q", data, at)[0])
    if kind == _ARRAY:
        element, count = struct.unpack_from("<IQ", data, at)
        at += 12
        if element != _STRING:
            return at + _SIZES[element] * int(count)
        for _ in range(count):
            at = _after(data, at, _STRING)
        return at
    return at + _SIZES[kind]
