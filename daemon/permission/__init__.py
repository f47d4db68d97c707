"""May this call run? Pure over a call and the facts that its inspection found.

`binding` ties a decision to exactly what was judged, `policy` gives the verdict and grants permits,
`card` makes what a human must see. Nothing here reads a file, a clock or a setting.

Every shell command asks for now: the parser, the rules and the grants of DESIGN §5 take their
places in this package without changing what the runtime sees of it.
"""
