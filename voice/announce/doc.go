// Package announce is what an announcement is: its content, how it is requested and checked, its place in the
// queue, what happens to it at a moment, and its end. Package announcer speaks it.
//
// One law: a [Queue] has neither lock nor clock. Its methods take the present [Conditions] and return a [Step]:
// what is to be published, saved, stopped and woken.
//
//	Request ─ Check ─ Reserve ─ saved ─ Enqueue ─┬───────── waiting ─┐
//	                                             └ scheduled ─┘      │ Take: urgent first
//	        End ◂─ saved ◂─ Ending ◂─ Requeue, Repeat ◂─ Played ◂────┘
//
// Only acceptance, changes of the order and ends are saved. The statuses synthesizing and playing exist in
// memory only: after a restart the announcement is queued again anyway, and saving them would cost two more
// writes. An announcement that an urgent one interrupts is queued again, with the sentence from which on it is
// spoken, and so is one that a clean stop cuts.
//
// Comments on games wait beside the announcements ([Queue.Comment]). They are never saved and are dropped when
// they are late.
package announce
