package main

import (
	"slices"

	"pressbox/daemon/web"
	"pressbox/daemon/wyoming"
	"pressbox/voice/library"
)

func (a *app) wyomingConfig() wyoming.Config {
	return wyoming.Config{
		Version: version, Room: a.Config.RoomName(),
		Speaker: a.speaker(), Check: a.announcer.CheckSpeech, Voices: a.wyomingVoices,
		Open:  web.Access(a.Config.NotifyAccess) == web.Open,
		Posts: a.web.Posts(), Speeches: a.speeches, Blocks: a.blocks,
		LimitLoopback: a.Config.NotifyRateLoopback, Track: a.web.TrackClient, Log: a.Log,
	}
}

// wyomingVoices returns the voices that can speak, the default one first.
func (a *app) wyomingVoices() []wyoming.Voice {
	var voices []wyoming.Voice
	byDefault, _ := a.voices.Voice("") // without a usable voice there are none
	for _, v := range a.voices.Voices() {
		if v.Error != "" {
			continue
		}
		converted := wyomingVoice(v)
		if v.Name == byDefault {
			voices = slices.Insert(voices, 0, converted)
		} else {
			voices = append(voices, converted)
		}
	}
	return voices
}

func wyomingVoice(v library.Info) wyoming.Voice {
	language := v.Language
	if v.Country != "" {
		language += "_" + v.Country
	}
	return wyoming.Voice{
		Name: v.Name, Label: v.Label, Language: language, License: v.License, Speakers: v.Speakers,
		SampleRate: v.SampleRate,
	}
}
