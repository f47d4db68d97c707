"""May this call run? Pure over a call and the facts that its inspection found.

`policy` settles the way of a judged call (run, ask, refuse) by the mode, the taint and the grants
around it, and grants permits; `binding` ties a decision to exactly what was judged; `card` makes
what a human must see; `file_rules` judges paths, as written and where their links lead. Nothing
here reads a file, a clock or a setting.

The judge of shell commands is `command`, over a text and a place:

    deception       the characters alone: what hides, reorders, pads
    shell_syntax    tree-sitter's tree, by budget, to a small one of our own
    shell_words     the words, by a lexer of our own that also reads the whole text again
    scope, feeds    constants: variables, folders, what flows through a pipe
    walk            every part that can run, texts inside texts; wrappers, builtins, code_text
    programs        one call: its closed schema (options), its language (expressions), its rules
    rules           permissions.toml: schemas and rules, each confirmed by its examples at load
    paths, hosts    what a path or a host is to its owner

A verdict can only get stricter on the way. Read-only is what both readings of the text see alike,
of programs with a schema, with words that are all known. A wrapper is judged by its own rules and
by what it runs; words of any other program are searched for hard stops too.
"""
