package play

import "pressbox/game/protocol"

// clientFrames returns a value of each type of frame that clients send, as the AsyncAPI document describes them.
func clientFrames() []any {
	return []any{authFrame{}, joinFrame{}, leaveFrame{}, commandFrame{}, syncFrame{}, reactFrame{}, pingFrame{}}
}

// serverFrames returns a value of each type of frame that the server sends.
func serverFrames() []any {
	return []any{
		helloFrame{},
		eventFrame{},
		skipFrame{},
		stateFrame{},
		ackFrame{},
		nakFrame{},
		presenceFrame{},
		clockFrame{},
		reactionFrame{},
		pongFrame{},
		byeFrame{},
	}
}

// A gameID is the id of a game.
type gameID struct {
	Game string `json:"g" required:"true" minLength:"1" maxLength:"64" pattern:"^[ -~]+$"`
}

// A frameID is what the frames of a client about a game may have.
type frameID struct {
	// Chosen by the client; unique per person and game.
	ID string `json:"cid" minLength:"1" maxLength:"64" pattern:"^[ -~]+$"`
	// The last revision of the game that the client has received.
	Revision uint64 `json:"rev" maximum:"9007199254740991"`
}

// since selects events.
type since struct {
	// The last revision that the client has received; 0: none.
	Since uint64 `json:"since" maximum:"9007199254740991"`
}

// Frames of clients.
type (
	// Authenticate without a cookie. Must be the first frame, within 10 seconds.
	authFrame struct {
		Type string      `json:"t" const:"auth" required:"true"`
		Data credentials `json:"d" required:"true"`
	}
	credentials struct {
		Token string `json:"token" required:"true"` // an access token
	}

	// Follow a game as manager or spectator. The server responds with hello, the missed events, and state.
	joinFrame struct {
		Type string `json:"t" const:"join" required:"true"`
		gameID
		frameID
		Data since `json:"d"`
	}

	// Stop following a game.
	leaveFrame struct {
		Type string `json:"t" const:"leave" required:"true"`
		gameID
		frameID
		Data map[string]any `json:"d"` // ignored
	}

	// Take an action. The server responds with ack when the command is on disk, or with nak if nothing has changed.
	//
	// Without a response, send it again with the same cid: it is executed once, and the repeated one gets an ack
	// with dup.
	commandFrame struct {
		Type string `json:"t" const:"cmd" required:"true"`
		gameID
		// Chosen by the client; unique per person and game.
		ID string `json:"cid" required:"true" minLength:"1" maxLength:"64" pattern:"^[ -~]+$"`
		// The last revision of the game that the client has received.
		Revision uint64  `json:"rev" maximum:"9007199254740991"`
		Data     command `json:"d" required:"true"`
	}
	command struct {
		// Of legal or offers, unchanged, or combined as Choice describes.
		Action protocol.Action `json:"action" required:"true"`
	}

	// Request the events after a revision again. The server responds as to join, without hello.
	syncFrame struct {
		Type string `json:"t" const:"sync" required:"true"`
		gameID
		frameID
		Data since `json:"d"`
	}

	// Show a reaction to all who follow the game: only of its managers, one a second and 30 an hour.
	reactFrame struct {
		Type string `json:"t" const:"react" required:"true"`
		gameID
		frameID
		Data react `json:"d" required:"true"`
	}
	react struct {
		Name protocol.ReactionName `json:"name" required:"true"`
	}

	// Request a pong.
	pingFrame struct {
		Type string `json:"t" const:"ping" required:"true"`
		// Of no effect, as are cid and rev.
		Game string `json:"g" minLength:"1" maxLength:"64" pattern:"^[ -~]+$"`
		frameID
		Data ping `json:"d"`
	}
	ping struct {
		TS  float64 `json:"ts"`  // returned in pong
		Lag float64 `json:"lag"` // milliseconds that the client measured
	}
)

// Frames of the server.
type (
	// First message of the response to join.
	helloFrame struct {
		Type string `json:"t" const:"hello"`
		gameID
		Revision uint64 `json:"rev"`
		Data     hello  `json:"d"`
	}

	// An event of the game. Revisions have no gaps: rev 7 is followed by rev 8, as event or as skip.
	//
	// An event that opens a decision of the client has legal. Events that are repeated after join or sync have
	// neither legal nor state.
	eventFrame struct {
		Type string `json:"t" const:"event"`
		gameID
		Revision uint64         `json:"rev"`
		Data     protocol.Event `json:"d"`
	}

	// An event that is hidden from the client.
	skipFrame struct {
		Type string `json:"t" const:"skip"`
		gameID
		Revision uint64 `json:"rev"`
	}

	// The current state of the game and every action that the client may take.
	stateFrame struct {
		Type string `json:"t" const:"state"`
		gameID
		Revision uint64            `json:"rev"`
		Data     protocol.Snapshot `json:"d"`
	}

	// A command is on disk as this revision. The event follows.
	ackFrame struct {
		Type string `json:"t" const:"ack"`
		gameID
		ID       string       `json:"cid"`
		Revision uint64       `json:"rev"`
		Data     protocol.Ack `json:"d"`
	}

	// A frame was refused, and nothing has changed.
	nakFrame struct {
		Type     string `json:"t" const:"nak"`
		Game     string `json:"g,omitzero"`
		ID       string `json:"cid,omitzero"`
		Revision uint64 `json:"rev,omitzero"`
		Data     nak    `json:"d"`
	}

	// Which managers are online, and the number of watchers.
	presenceFrame struct {
		Type string `json:"t" const:"presence"`
		gameID
		Data protocol.Presence `json:"d"`
	}

	// The time left for a decision.
	clockFrame struct {
		Type string `json:"t" const:"clock"`
		gameID
		Data protocol.Clock `json:"d"`
	}

	// A manager has reacted. Reactions are not saved, and not sent again.
	reactionFrame struct {
		Type string `json:"t" const:"reaction"`
		gameID
		Data protocol.Reaction `json:"d"`
	}

	// Response to ping.
	pongFrame struct {
		Type string `json:"t" const:"pong"`
		Data pong   `json:"d"`
	}

	// The last message about a cancelled game, or about all games when the server stops.
	byeFrame struct {
		Type string `json:"t" const:"bye"`
		Game string `json:"g,omitzero"`
		Data bye    `json:"d"`
	}
)
