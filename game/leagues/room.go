package leagues

import (
	"context"
	"time"

	"pressbox/game/protocol"
)

// A holding is what one person's leagues take.
type holding struct {
	unfinished, finished int
	oldest               *League // that finished
}

// holdings returns the holding of each person who created leagues, by id.
func (l *Leagues) holdings() (byPerson map[string]holding, all int) {
	byPerson = map[string]holding{}
	leagues := l.snapshot()
	for _, league := range leagues {
		h := byPerson[league.Creator.ID]
		if league.Status() == Finished {
			h.finished++
			if h.oldest == nil || league.Finished.Before(h.oldest.Finished) {
				h.oldest = league
			}
		} else {
			h.unfinished++
		}
		byPerson[league.Creator.ID] = h
	}
	return byPerson, len(leagues)
}

// makeRoom deletes finished leagues so that by may create another: the oldest of those that by created beyond the
// limit, and if there are too many in all, the oldest of the person who created most. l.creating must be held.
func (l *Leagues) makeRoom(ctx context.Context, by protocol.Person) error {
	for {
		people, all := l.holdings()
		own := people[by.ID]
		oldest := own.oldest
		switch {
		case own.unfinished >= maxUnfinishedPerPerson:
			return protocol.Refuse(protocol.TooManyLeagues, "%d leagues and series that you created are not finished",
				own.unfinished)
		case own.finished >= maxFinishedPerPerson:
		case all < MaxLeagues:
			return nil
		default:
			oldest = oldestOfMost(people)
		}
		if oldest == nil {
			return protocol.Refuse(protocol.TooManyLeagues, "%d leagues and series are not finished", all)
		}
		if err := l.Remove(ctx, oldest.ID); err != nil {
			return err
		}
	}
}

// oldestOfMost returns the oldest finished league of the person who has most finished ones; nil if there is none.
func oldestOfMost(people map[string]holding) *League {
	var most holding
	for _, h := range people {
		if h.finished > most.finished || h.oldest != nil && h.finished == most.finished &&
			h.oldest.Finished.Before(most.oldest.Finished) {
			most = h
		}
	}
	return most.oldest
}

// Remove deletes a series or a league, whatever its status. Its games stay.
func (l *Leagues) Remove(ctx context.Context, id string) error {
	return l.remove(ctx, "", id, func(*League) error { return nil })
}

// remove deletes a league if allowed returns nil.
func (l *Leagues) remove(ctx context.Context, k Kind, id string, allowed func(*League) error) error {
	e, err := l.entry(k, id)
	if err != nil {
		return err
	}
	e.changing.Lock()
	defer e.changing.Unlock()
	league := l.present(e)
	if league == nil {
		return nil // deleted meanwhile
	}
	if err := allowed(league); err != nil {
		return err
	}
	if err := l.config.Repository.DeleteLeague(ctx, id); err != nil {
		return unavailable(err, "delete the league")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, id)
	return nil
}

// A StoredLeague describes a series or a league to the administrator.
type StoredLeague struct {
	ID      string    `json:"id"`
	Kind    Kind      `json:"kind"`
	Name    string    `json:"name"`
	Status  Status    `json:"status"`
	Creator string    `json:"creator"` // name of the account that created it
	Private bool      `json:"private"`
	Seats   int       `json:"seats"`
	Created time.Time `json:"created_at"`
	Stalled string    `json:"stalled,omitempty"` // reason why it cannot advance; it is tried again
}

// Stored returns all series and leagues, listed and private, the newest first.
func (l *Leagues) Stored() []StoredLeague {
	all := []StoredLeague{}
	for _, league := range l.snapshot() {
		all = append(all, StoredLeague{
			ID: league.ID, Kind: league.Kind, Name: league.Name, Status: league.Status(), Creator: league.Creator.Name,
			Private: !league.Listed(), Seats: len(league.Seats), Created: league.Created, Stalled: l.stalled(league.ID),
		})
	}
	return all
}

// stalled returns why a league cannot advance; "" if it can.
func (l *Leagues) stalled(id string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.all[id]; e != nil {
		return e.stalled
	}
	return ""
}
