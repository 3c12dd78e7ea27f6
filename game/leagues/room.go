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

func (h *holding) all() int { return h.unfinished + h.finished }

// holdings returns the holding of each person who created leagues, by id, and the sum of all.
func (l *Leagues) holdings() (byPerson map[string]holding, sum holding) {
	byPerson = map[string]holding{}
	for _, league := range l.snapshot() {
		h := byPerson[league.Creator.ID]
		if league.Status() == Finished {
			sum.finished++
			h.finished++
			if h.oldest == nil || league.Finished.Before(h.oldest.Finished) {
				h.oldest = league
			}
		} else {
			sum.unfinished++
			h.unfinished++
		}
		byPerson[league.Creator.ID] = h
	}
	return byPerson, sum
}

// makeRoom deletes finished leagues so that by may create another: the oldest of those that by created beyond the
// limit, and if there are too many in all, the oldest of by, or else of the person who created most, if these are more
// than by's. l.creating must be held.
func (l *Leagues) makeRoom(ctx context.Context, by protocol.Person) error {
	for {
		people, sum := l.holdings()
		own := people[by.ID]
		oldest := own.oldest
		switch {
		case own.unfinished >= maxUnfinishedPerPerson:
			return protocol.Refuse(protocol.TooManyLeagues, "%d leagues and series that you created are not finished",
				own.unfinished)
		case own.unfinished > 0 && sum.unfinished >= MaxLeagues-reservedForFirst:
			oldest = nil
		case own.finished >= maxFinishedPerPerson:
		case sum.all() < MaxLeagues:
			return nil
		case oldest == nil:
			most := own
			for _, h := range people {
				if h.oldest != nil && (h.all() > most.all() || h.all() == most.all() && most.oldest != nil &&
					h.oldest.Finished.Before(most.oldest.Finished)) {
					most = h
				}
			}
			oldest = most.oldest
		}
		if oldest == nil {
			return protocol.Refuse(protocol.TooManyLeagues, "%d leagues and series are not finished", sum.unfinished)
		}
		if err := l.Remove(ctx, oldest.ID); err != nil {
			return err
		}
	}
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
