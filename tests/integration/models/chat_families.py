"""Chat templates of the families of open models, cut down to what they do with messages, and the
control tokens that each uses. `native` puts a family's tokens into a real vocabulary.
"""

import pathlib
from dataclasses import dataclass

from daemon.models.worker import template
from tests.integration.models import tiny_gguf

VOCABULARY = (
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<repo_name>", "<reponame>", "<file_sep>"),
    *("<filename>", "<gh_stars>", "<issue_start>", "<issue_comment>", "<issue_closed>"),
    *("<jupyter_start>", "<jupyter_text>", "<jupyter_code>", "<jupyter_output>"),
    *("<jupyter_script>", "<empty_output>"),
)
"""The control tokens of the embedded model's vocabulary, by their numbers."""
_FIXED = 3
"""So many of them its file names as the beginning, the end and the padding."""
_ROLES = "{% for m in messages %}"
_OPEN = "{% if add_generation_prompt %}"
_ALTERNATE = (
    "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Roles must alternate') }}{% endif %}{% endfor %}"
)


_ALTERNATE_AFTER_SYSTEM = (
    "{% for m in messages if m['role'] != 'system' %}"
    "{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Roles must alternate') }}{% endif %}{% endfor %}"
)


@dataclass(frozen=True)
class Family:
    """A template, and the tokens that it and its models use."""

    source: str
    tokens: tuple[str, ...]


def _turns(before: str, between: str, after: str, opened: str = "") -> str:
    """A template that is the same for every role."""
    turn = f"{{{{ {before!r} + m['role'] + {between!r} + m['content'] + {after!r} }}}}"
    start = opened or f"{before}assistant{between}"
    return f"{_ROLES}{turn}{{% endfor %}}{_OPEN}{{{{ {start!r} }}}}{{% endif %}}"


def _by_role(system: str, user: str, assistant: str, opened: str) -> str:
    """A template with a form for each role, `@` in the place of the content."""
    said = {
        role: form.replace("@", "' + m['content'] + '")
        for role, form in (("system", system), ("user", user), ("assistant", assistant))
    }
    return (
        f"{_ROLES}{{% if m['role'] == 'system' %}}{{{{ '{said['system']}' }}}}"
        f"{{% elif m['role'] == 'user' %}}{{{{ '{said['user']}' }}}}"
        f"{{% elif m['role'] == 'assistant' %}}{{{{ '{said['assistant']}' }}}}"
        "{% else %}{{ raise_exception('no such role') }}{% endif %}{% endfor %}"
        f"{_OPEN}{{{{ '{opened}' }}}}{{% endif %}}"
    )


FAMILIES: dict[str, Family] = {
    "chatml": Family(template.CHATML, ("<|im_start|>", "<|im_end|>")),
    "plain": Family(template.PLAIN, ()),
    "llama 2": Family(
        "{% if messages[0]['role'] == 'system' %}{% set first = '<<SYS>>\\n' + "
        "messages[0]['content'] + '\\n<</SYS>>\\n\\n' %}{% set said = messages[1:] %}{% else %}"
        "{% set first = '' %}{% set said = messages %}{% endif %}{% for m in said %}"
        "{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('turns') }}"
        "{% endif %}{% if m['role'] == 'user' %}{{ '<s>[INST] ' + (first if loop.first else '') + "
        "m['content'].strip() + ' [/INST]' }}{% else %}{{ ' ' + m['content'].strip() + ' </s>' }}"
        "{% endif %}{% endfor %}",
        ("<s>", "</s>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>"),
    ),
    "llama 3": Family(
        _turns("<|start_header_id|>", "<|end_header_id|>\n\n", "<|eot_id|>").replace(
            "m['content']", "(m['content'] | trim)"
        ),
        (
            *("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>"),
            *("<|eot_id|>", "<|eom_id|>", "<|python_tag|>", "<|finetune_right_pad_id|>"),
        ),
    ),
    "mistral": Family(
        _ALTERNATE_AFTER_SYSTEM
        + _by_role("[SYSTEM_PROMPT]@[/SYSTEM_PROMPT]", "[INST]@[/INST]", "@</s>", ""),
        (
            *("<s>", "</s>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
            *("[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[AVAILABLE_TOOLS]"),
        ),
    ),
    "gemma": Family(
        f"{_ALTERNATE}{_ROLES}{{% set role = 'model' if m['role'] == 'assistant' else m['role'] %}}"
        "{{ '<start_of_turn>' + role + '\\n' + m['content'] | trim + '<end_of_turn>\\n' }}"
        f"{{% endfor %}}{_OPEN}{{{{ '<start_of_turn>model\\n' }}}}{{% endif %}}",
        ("<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<start_of_image>"),
    ),
    "phi 3": Family(
        _turns("<|", "|>\n", "<|end|>\n"),
        ("<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", "<|end|>"),
    ),
    "phi 4": Family(
        _turns("<|im_start|>", "<|im_sep|>", "<|im_end|>"),
        ("<|im_start|>", "<|im_sep|>", "<|im_end|>"),
    ),
    "zephyr": Family(
        _turns("<|", "|>\n", "</s>\n"), ("<s>", "</s>", "<|system|>", "<|user|>", "<|assistant|>")
    ),
    "deepseek": Family(
        _by_role(
            "@",
            "<\uff5cUser\uff5c>@",
            "<\uff5cAssistant\uff5c>@<\uff5cend\u2581of\u2581sentence\uff5c>",
            "<\uff5cAssistant\uff5c><think>\\n",
        ),
        (
            *(
                "<\uff5cbegin\u2581of\u2581sentence\uff5c>",
                "<\uff5cend\u2581of\u2581sentence\uff5c>",
            ),
            *("<\uff5cUser\uff5c>", "<\uff5cAssistant\uff5c>", "<think>", "</think>"),
            "<\uff5ctool\u2581calls\u2581begin\uff5c>",
        ),
    ),
    "qwen 3": Family(
        template.CHATML + "{% if enable_thinking is defined and not enable_thinking %}"
        "{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}",
        (
            *("<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>"),
            *("<tool_response>", "</tool_response>"),
        ),
    ),
    "command r": Family(
        _by_role(
            "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>@<|END_OF_TURN_TOKEN|>",
            "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>@<|END_OF_TURN_TOKEN|>",
            "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>@<|END_OF_TURN_TOKEN|>",
            "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        ),
        (
            *("<BOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>"),
            *("<|SYSTEM_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|START_THINKING|>"),
        ),
    ),
    "gpt-oss": Family(
        _by_role(
            "<|start|>system<|message|>@<|end|>",
            "<|start|>user<|message|>@<|end|>",
            "<|start|>assistant<|channel|>final<|message|>@<|end|>",
            "<|start|>assistant",
        ),
        (
            *("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>"),
            *("<|return|>", "<|call|>", "<|startoftext|>"),
        ),
    ),
    "granite": Family(
        _turns("<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>\n"),
        ("<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>", "<|tool_call|>"),
    ),
    "exaone": Family(
        _turns("[|", "|]", "[|endofturn|]\n"),
        ("[BOS]", "[|system|]", "[|user|]", "[|assistant|]", "[|endofturn|]"),
    ),
    "glm 4": Family(
        "{{ '[gMASK]<sop>' }}" + _turns("<|", "|>\n", ""),
        ("[gMASK]", "<sop>", "<eop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>"),
    ),
    "openchat": Family(
        _turns("GPT4 Correct ", ": ", "<|end_of_turn|>"), ("<s>", "</s>", "<|end_of_turn|>")
    ),
    "alpaca": Family(_turns("### ", ":\n", "\n\n"), ("<s>", "</s>")),
    "vicuna": Family(_by_role("@ ", "USER: @ ", "ASSISTANT: @</s>", "ASSISTANT:"), ("<s>", "</s>")),
    "minicpm": Family(_by_role("@", "<用户>@", "<AI>@", "<AI>"), ("<s>", "</s>", "<用户>", "<AI>")),
    "llama 4": Family(
        _turns("<|header_start|>", "<|header_end|>\n\n", "<|eot|>"),
        ("<|begin_of_text|>", "<|header_start|>", "<|header_end|>", "<|eot|>", "<|eom|>"),
    ),
}


def renamed(family: Family) -> dict[str, str]:
    """Which control tokens of the vocabulary become the family's; its own stay."""
    new = [one for one in family.tokens if one not in VOCABULARY]
    free = [one for one in VOCABULARY[_FIXED:] if one not in family.tokens]
    assert len(new) <= len(free)
    return dict(zip(free, new, strict=False))


def write(family: Family, vocabulary_of: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """A tiny model with the family's template and control tokens; where it is."""
    path = folder / "family.gguf"
    tiny_gguf.write("llama", vocabulary_of, path, family.source, renamed(family))
    return path
