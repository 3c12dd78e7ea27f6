package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// socketDescription describes what no schema can express.
const socketDescription = "Sub-protocol pressbox.v1 at /api/ws. One socket follows up to 16 games. Frames are " +
	"text, one JSON object each; those of clients have at most 8 KiB, at a rate of 20 per second with bursts of " +
	"40. Clients authenticate with the session's cookie, with Authorization: Bearer, or with an auth frame; the " +
	"server refuses pages of other origins.\n\nThe server sends a websocket ping every 15 s, and closes the " +
	"connection 25 s after the last frame or pong. Close codes: 4001 the server restarts (reconnect), 4401 not " +
	"authenticated or session ended, 4408 more than 64 messages waiting for the client, 4429 too many frames, 1009 " +
	"a frame longer than 64 KiB."

// A Frame describes a message.
type Frame struct {
	Name        string          `json:"name,omitempty"`
	Summary     string          `json:"summary"`
	Description string          `json:"description,omitempty"`
	Payload     json.RawMessage `json:"payload"`
}

// AsyncAPI returns the AsyncAPI 3.0 document of the websocket, with copies of
// the schemas that it shares with the OpenAPI document.
func AsyncAPI(version string) ([]byte, error) {
	all, err := components()
	if err != nil {
		return nil, err
	}
	schemas := map[string]json.RawMessage{}
	messages, channel := map[string]Frame{}, object{}
	for _, group := range []map[string]Frame{all.Client, all.Server} {
		for name, message := range group {
			message.Name = name
			messages[name] = message
			channel[name] = reference("#/components/messages/", name)
			addReferenced(schemas, all.Components.Schemas, message.Payload)
		}
	}
	text, err := json.MarshalIndent(object{
		"asyncapi": "3.0.0",
		"info": object{
			"title": "Pressbox websocket of games", "version": version, "description": socketDescription,
			"license": object{"name": "MIT"},
		},
		"defaultContentType": "application/json",
		"channels": object{"play": object{
			"address": "/api/ws", "title": "Games", "messages": channel,
			"bindings": object{"ws": object{"method": "GET"}},
		}},
		"operations": object{
			"receive": operationOf("receive", all.Client),
			"send":    operationOf("send", all.Server),
		},
		"components": object{"messages": messages, "schemas": schemas},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the AsyncAPI document: %w", err)
	}
	return append(text, '\n'), nil
}

// operationOf returns the operation of the messages in one direction.
func operationOf(action string, messages map[string]Frame) object {
	var all []object
	for _, name := range slices.Sorted(maps.Keys(messages)) {
		all = append(all, reference("#/channels/play/messages/", name))
	}
	return object{"action": action, "channel": reference("#/channels/", "play"), "messages": all}
}

func reference(to, name string) object { return object{"$ref": to + name} }

// addReferenced copies to schemas those of shared that text references, and
// those that they reference.
func addReferenced(schemas, shared map[string]json.RawMessage, text []byte) {
	for _, found := range regexp.MustCompile(`"#/components/schemas/(\w+)"`).FindAllSubmatch(text, -1) {
		name := string(found[1])
		if _, ok := schemas[name]; !ok {
			schemas[name] = shared[name]
			addReferenced(schemas, shared, shared[name])
		}
	}
}
