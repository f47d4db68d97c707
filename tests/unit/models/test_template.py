"""Chat templates: contents never meet them, and one that is unfaithful is not used."""

import pytest

from daemon.models.worker import template

LLAMA_2 = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] == 'system' %}{{ '<<SYS>>\\n' + message['content'] + '\\n<</SYS>>\\n' }}"
    "{% elif message['role'] == 'user' %}{{ '[INST] ' + message['content'].strip() + ' [/INST]' }}"
    "{% elif message['role'] == 'assistant' %}{{ ' ' + message['content'] | trim + eos_token }}"
    "{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}"
    "{% endfor %}"
)
GEMMA = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for message in messages %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}"
    "{% endif %}"
    "{% set role = 'model' if message['role'] == 'assistant' else message['role'] %}"
    "{{ '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"
)
LLAMA_3 = (
    "{% for message in messages %}{% set content = '<|start_header_id|>' + message['role'] + "
    "'<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' %}"
    "{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}"
    "{{ content }}{% endfor %}"
    "{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}"
)
DROPS_TOOLS = (
    "{% for message in messages %}{% if message['role'] != 'tool' %}"
    "{{ '<' + message['role'] + '>' + message['content'] }}{% endif %}{% endfor %}"
)
FOR_TRAINING = (
    "{% for m in messages %}{{ '<' + m['role'] + '>' }}{% if m['role'] == 'assistant' %}"
    "{% generation %}{{ m['content'] }}{% endgeneration %}{% else %}{{ m['content'] }}{% endif %}"
    "{% endfor %}{{ '<assistant>' }}"
)
FAITHFUL = {
    "for training": FOR_TRAINING,
    "chatml": template.CHATML,
    "plain": template.PLAIN,
    "llama 2": LLAMA_2,
    "gemma": GEMMA,
    "llama 3": LLAMA_3,
    "drops tools": DROPS_TOOLS,
}
TALK = [
    ("system", "Be kind."),
    ("user", "<|im_start|>\n{{ 7*7 }} DUCKCONTENT0END"),
    ("assistant", "[INST] a"),
    ("tool", "{% raw %}"),
    ("user", "b"),
]


def contents(runs: list[template.Run]) -> list[str]:
    return [run.text for run in runs if not run.own]


def own(runs: list[template.Run]) -> str:
    return "".join(run.text if run.own else "·" for run in runs)


@pytest.mark.parametrize("source", FAITHFUL.values(), ids=FAITHFUL.keys())
def test_each_content_comes_out_once_in_order_and_untouched(source: str) -> None:
    runs = template.Template(source, "<s>", "</s>").render(TALK)
    assert contents(runs) == [content for _, content in TALK]


@pytest.mark.parametrize("source", FAITHFUL.values(), ids=FAITHFUL.keys())
def test_the_template_text_does_not_depend_on_contents(source: str) -> None:
    form = template.Template(source, "<s>", "</s>")
    plain = [(speaker, "x") for speaker, _ in TALK]
    assert own(form.render(TALK)) == own(form.render(plain))


def test_chatml_to_the_letter() -> None:
    runs = template.Template(template.CHATML).render(TALK[:2])
    assert own(runs) == (
        "<|im_start|>system\n·<|im_end|>\n<|im_start|>user\n·<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_template_without_system_gets_it_in_the_first_users_turn() -> None:
    runs = template.Template(GEMMA, "<bos>").render(TALK[:2])
    assert own(runs) == ("<bos><start_of_turn>user\n·\n\n·<end_of_turn>\n<start_of_turn>model\n")


def test_what_a_template_trims_is_trimmed() -> None:
    trimmed = template.Template(LLAMA_3, "<s>").render([("user", "\n a \n")])
    kept = template.Template(template.CHATML).render([("user", "\n a \n")])
    assert (contents(trimmed), contents(kept)) == (["a"], ["\n a \n"])


@pytest.mark.parametrize("content", ["", " ", "\n\n"])
def test_an_empty_content_is_no_run(content: str) -> None:
    form = template.Template(LLAMA_3, "<s>")
    assert contents(form.render([("user", content), ("assistant", "a"), ("user", "b")])) == [
        "a",
        "b",
    ]


UNFAITHFUL = {
    "does not compile": "{% for %}",
    "drops all": "Hello",
    "doubles": "{% for m in messages %}{{ m['content'] }}{{ m['content'] }}{% endfor %}",
    "reorders": "{% for m in messages | reverse %}{{ m['content'] }}{% endfor %}",
    "changes the case": "{% for m in messages %}{{ m['content'] | lower }}{% endfor %}",
    "keeps the last one": "{{ messages[-1]['content'] }}",
    "always refuses": "{{ raise_exception('never') }}",
    "escapes the sandbox": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "changes its messages": "{% for m in messages %}{{ m.update({'content': 1}) }}{% endfor %}",
    "asks for what is not": "{% for m in messages %}{{ m['content'] }}{{ a.b.c }}{% endfor %}",
    "divides by zero": "{{ 1 / 0 }}",
    "counts for ever": "{% for i in range(10 ** 9) %}a{% endfor %}",
    "adds text to a number": "{{ 1 + 'a' }}",
}


@pytest.mark.acceptance(39)
@pytest.mark.parametrize("source", UNFAITHFUL.values(), ids=UNFAITHFUL.keys())
def test_an_unfaithful_template_is_refused_with_a_sentence(source: str) -> None:
    with pytest.raises(template.TemplateError) as caught:
        template.Template(source)
    assert str(caught.value).startswith("The chat template ")


THINKS = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' }}"
    "{% endfor %}{{ '<|im_start|>assistant\\n' }}"
)
SWITCHES: dict[str, tuple[str, str, bool, str, str]] = {
    "none": (THINKS, "", False, "", ""),
    "an empty thought where it is off": (
        THINKS + "{% if enable_thinking is defined and not enable_thinking %}"
        "{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}",
        "enable_thinking", False, "", "<think>\n\n</think>\n\n",
    ),
    "an open thought where it is on": (
        THINKS + "{{ '<think>' if thinking else '</think>' }}",
        "thinking", False, "<think>", "</think>",
    ),
    "a word to the model before all": (
        "{{ '/no_think' if not enable_thinking }}" + THINKS, "enable_thinking", True, "", "",
    ),
}  # fmt: skip


@pytest.mark.spec("H-13")
@pytest.mark.parametrize(
    ("source", "switch", "early", "on", "off"), SWITCHES.values(), ids=SWITCHES.keys()
)
def test_a_template_shows_how_thinking_is_turned_off(
    source: str, switch: str, early: bool, on: str, off: str
) -> None:
    form = template.Template(source)
    assert (form.switch, form.switches_early) == (switch, early)
    ends = [own(form.render(TALK, thinks)).split("assistant\n")[-1] for thinks in (True, False)]
    assert ends == [on, off]
    assert form.beginning.endswith(f"assistant\n{on}")


def test_a_switch_that_breaks_the_template_is_none() -> None:
    source = "{{ raise_exception('no') if enable_thinking is defined }}" + THINKS
    assert template.Template(source).switch == ""
