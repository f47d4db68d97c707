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
    model_file what can be said of a file before native code reads it
    native     engine, vocabulary and sampling: thin effects on llama.cpp
    protocol   the frames, shared with the host; `frames` is their length prefix

Imports only the standard library, llama_cpp, numpy, jinja2 and itself. One thread touches the
model; a second reads frames, a third sends heartbeats. Whatever goes wrong in a batch drops the
context, so that no later answer is built on a broken cache.
"""
