"""Which events change what is to be shown in chats. For those that keep it and that wait for it."""

from daemon.domain import events

CHANGERS = frozenset(
    {
        events.TaskSubmitted,
        events.TaskStateChanged,
        events.ApprovalRequested,
        events.ApprovalResolved,
        events.NoticePosted,
        events.ChatMoved,
        events.PairingRequested,
        events.PairingDecided,
        events.ScheduleRunEnded,
    }
)
"""A report changes what was shown, and gives nothing new to show."""
