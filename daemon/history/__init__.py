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

Measured with git 2.39, pygit2 1.21 and dulwich 1.2 on 20 and 5,000 small files: to see that nothing
changed takes git 4 and 18 ms (a process each), pygit2 0.2 and 39 ms, this 0.1 and 35 ms; to keep
5,000 files the first time git 4.3 s, pygit2 4.0 s, dulwich 1.5 s, this 0.6 s. pygit2 and dulwich
need 110 and 190 ms to be imported, and both, like git, would look into a nested repository.
"""
