"""Fetches one public page, in a process of its own.

`urls` reads an address into the one form that is shown, approved and asked for; `addresses` says
which machines may be reached at all. `visiting` starts the child, bounds it and reads its answer.
In the child (`child`), `connecting` looks a name up once, checks every address and connects to a
checked one; `exchange` is one request and its answer, within bounds; `pages` follows redirects,
each checked again; `reading` makes text of what came, and `results` reads a search engine's answer.

Hostile bytes (TLS, compression, HTML) are only met in the child, which holds nothing worth having:
no token, no file of the daemon's, bounded memory, processor time and life. Knows no policy.
"""
