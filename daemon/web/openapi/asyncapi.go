package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// frames are the messages of the websocket, by who sends them.
//
//go:embed frames.json
var frames []byte

// socketDescription says what stands in no schema.
const socketDescription = "Sub-protocol pressbox.v1 at /api/ws, one socket for any number of games (16 at a time). Text frames, one JSON object each, at most 8 KiB " +
	"from clients and 20 a second (40 at once). Who you are is said by the session's cookie, by Authorization: Bearer, or by an auth frame; " +
	"a page of another origin than this appliance's is refused.\n\n" +
	"The server asks every 15 s whether you are there, by a ping of the websocket, and hangs up 25 s after the last sign of life. " +
	"It hangs up with 4001 when it restarts (come back), 4401 when the session has ended or there is none, 4408 when 64 messages wait for you, " +
	"4429 when there were too many frames, 1009 when one was longer than 64 KiB."

// A frameMessage is how a message is described.
type frameMessage struct {
	Name        string          `json:"name"`
	Summary     string          `json:"summary"`
	Description string          `json:"description,omitempty"`
	Payload     json.RawMessage `json:"payload"`
}

// AsyncAPI returns the document that GET /asyncapi.json answers: AsyncAPI 3.0
// of the websocket. What it shares with OpenAPI's document, it repeats.
func AsyncAPI(version string) ([]byte, error) {
	var all struct {
		Client  map[string]frameMessage
		Server  map[string]frameMessage
		Schemas map[string]json.RawMessage
	}
	if err := json.Unmarshal(frames, &all); err != nil {
		return nil, fmt.Errorf("read the frames: %w", err)
	}
	shared, err := components()
	if err != nil {
		return nil, err
	}
	messages, channel := map[string]frameMessage{}, object{}
	for _, some := range []map[string]frameMessage{all.Client, all.Server} {
		for name, message := range some {
			message.Name = name
			messages[name] = message
			channel[name] = reference("#/components/messages/", name)
			pick(all.Schemas, shared, message.Payload)
		}
	}
	text, err := json.MarshalIndent(object{
		"asyncapi": "3.0.0",
		"info": object{
			"title": "Pressbox: the websocket of games", "version": version, "description": socketDescription,
			"license": object{"name": "MIT"},
		},
		"defaultContentType": "application/json",
		"channels":           object{"play": object{"address": "/api/ws", "title": "Games", "messages": channel, "bindings": object{"ws": object{"method": "GET"}}}},
		"operations": object{
			"hear": operationOf("receive", all.Client),
			"tell": operationOf("send", all.Server),
		},
		"components": object{"messages": messages, "schemas": all.Schemas},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the AsyncAPI document: %w", err)
	}
	return append(text, '\n'), nil
}

// operationOf describes which messages go one way.
func operationOf(action string, messages map[string]frameMessage) object {
	var all []object
	for _, name := range slices.Sorted(maps.Keys(messages)) {
		all = append(all, reference("#/channels/play/messages/", name))
	}
	return object{"action": action, "channel": reference("#/channels/", "play"), "messages": all}
}

func reference(to, name string) object { return object{"$ref": to + name} }

// pick copies into schemas those of shared that a text leads to.
func pick(schemas, shared map[string]json.RawMessage, text []byte) {
	for _, found := range regexp.MustCompile(`"#/components/schemas/(\w+)"`).FindAllSubmatch(text, -1) {
		name := string(found[1])
		if _, ok := schemas[name]; !ok {
			schemas[name] = shared[name]
			pick(schemas, shared, shared[name])
		}
	}
}
