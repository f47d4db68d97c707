"""`python -m daemon.models.worker`: serves one GGUF file over frames on stdin and stdout.

    __main__   fds, parent's death, the threads
    serve      the loop: take frames, plan a batch, decode it, sample, answer
    schedule   pure: who is in the next batch, and how large a prefill chunk may be
    residence  pure: which sequence a prompt continues, copies from or replaces
    thoughts   pure: the marks of reasoning models, and a stream split by them
    reply      pure: tokens to thoughts and answer, each within its bounds
    pieces     pure: text coalesced in time
    grammar    pure: a closed subset of JSON Schema to GBNF
    template   a chat template to runs of its own text and of contents, never mixed
    prompt     messages to tokens, thinking turned on or off; remembers contents and answers
    prefixes   files of what was computed for the fixed part of prompts: named, checked, bounded
    keeping    when such a file is read and when one is written
    model_file what can be said of a file before native code reads it
    native     engine, vocabulary and sampling: thin effects on llama.cpp
    protocol   the frames, shared with the host; `frames` is their length prefix

Imports only the standard library, llama_cpp, numpy, jinja2 and itself. One thread touches the
model; a second reads frames, a third sends heartbeats. Whatever goes wrong in a batch drops the
context, so that no later answer is built on a broken cache.

The fixed part of prompts is read by the model once and kept over restarts. With the packaged model
on two cores its 745 tokens take 17.2 MB, and from a worker's spawn to its first token it is 1.2 s
(1.13 to 1.27) instead of 6.3 s (6.1 to 6.6), five of each in turns on a machine that others used
too. The prefill of a prompt of 764 tokens is 0.2 s instead of 5.5 s; to write the file takes 50 to
140 ms beside the model's thread, to read and check it 30 to 50 ms. What a file brings back is bit
for bit what was read. Like any reading in other parts it may turn an answer where two tokens are
as good as each other to a hundredth of a logit.
"""
