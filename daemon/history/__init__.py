"""What became of a project's files, kept in a git store of the daemon's own.

    histories ── one store a folder, in turn, within a deadline
        └── store ── looks at the folder, keeps what changed as a commit, brings commits back
              ├── walk        what the folder holds now (by descriptor, no link followed)
              │     └── ignores   .gitignore, in bounded time whatever it says
              ├── objects     writes blobs, trees and commits (loose, many as a pack)
              ├── reversal    what the files would be without some commits
              ├── worktree    reads and writes single files, by descriptor
              └── git         reads the store: tree, log, diff, merge of a file

The owner's folder is never shown to git: it is read here, so nothing in it (a `.git`, hooks, filter
drivers, attributes, fsmonitor) can be run or obeyed. Git only ever sees the store, which is bare,
has its own settings and lies among what calls never see. A store is written file by file with
renames, so that a kill at any point leaves one that can be used.

A child of git for each look costs more than a small folder's look itself, and libgit2 and dulwich
would be loaded into the daemon. Measured with git 2.39, pygit2 1.21 and dulwich 1.2 on 2 busy cores
(milliseconds; of 5,000 small files processor time, since the waits say more of the neighbours):

                                    git    pygit2   dulwich   this
    20 files, nothing changed       4 to 6     0.1              0.1 to 0.3
    5,000 files, nothing changed        17      12                43
    5,000 files, kept at first       2,000   2,400       600     700
    to import                                  110       190       5

Each of the three also obeys what lies in the folder: attributes, and the settings of a repository
within it. What calls that run at the same time change in one folder is kept with whichever ends
first: nobody could tell it apart.
"""
