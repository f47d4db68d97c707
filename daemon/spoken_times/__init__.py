"""Reads when something shall be done, as people write it: `reader.read` is the way in.

First the forms of `daemon.domain.schedule_text`, then cron's five fields, then words: `clock` takes
the times of day out, `rules` reads what comes again, and `dates` has single days and spans read by
parsedatetime, which is held to few shapes and to its whole text: left alone it takes half a
sentence, swallows a second day, and answers with the time of its own clock where it understood
nothing. So a rule that comes out says all that was said, and everything else is told back as not
understood. What was read is shown to people as times before it is kept.

Pure but for the import of that library with the first words: time and zone are given.
"""
