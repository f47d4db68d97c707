"""What next? Pure: the state and one stamped input give one Step, always the same.

`orchestrator.decide` is the only entry. It sends the input to the module that knows its kind:
`requests` (what people ask by RPC; `grants` and `tokens` are its parts), `thinking` (model calls),
`engine` (tool calls: propose, inspect, finalize), `judging` (an inspected call starts, asks or is
refused), `secrecy` (a password that one needs), `recovery` (after a restart). `lanes` says which
tasks may run, `endings` how one stops, `turn` collects the events, records and actions of one
decision. `intent`, `parse`, `context` and `retry` are questions with a value for an answer.
"""
