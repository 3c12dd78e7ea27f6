package recovery

import (
	"context"
	"fmt"
	"strings"

	"pressbox/voice/control"
)

// calibrate replaces one of five values.
func calibrate(s *site, i int) error {
	key, value := fmt.Sprint("voice-", i%5), fmt.Sprintf(`{"life":%d,"gain":%d}`, s.life, i)
	s.ledger.begin("calibration/"+key, value)
	return s.ledger.ack("calibration/"+key, s.store.SaveCalibration(key, []byte(value)))
}

func findCalibration(s *site, key string) (string, error) {
	value, _, err := s.store.Calibration(key)
	return string(value), err
}

func saveTeamData(s *site, i int) error {
	key, value := fmt.Sprint("/teams/", i%7), fmt.Sprintf("%d-%d%s", s.life, i, strings.Repeat(" ", i*311%9000))
	s.ledger.begin("team/"+key, value)
	return s.ledger.ack("team/"+key, s.store.SaveTeamData(context.Background(), key, []byte(value)))
}

func findTeamData(s *site, key string) (string, error) {
	value, err := s.store.TeamData(context.Background(), key)
	return string(value), err
}

// saveDucked saves lowered streams, and in every third round that none are.
func saveDucked(s *site, i int) error {
	var content []byte
	if i%3 > 0 {
		content = fmt.Appendf(nil, "%d-%d%s", s.life, i, strings.Repeat(" ", i*311%9000))
	}
	s.ledger.begin("ducked/streams", string(content))
	return s.ledger.ack("ducked/streams", s.store.SaveDucked(context.Background(), content))
}

func findDucked(s *site, _ string) (string, error) {
	content, err := s.store.Ducked()
	return string(content), err
}

func saveProviderDocument(s *site, i int) error {
	value := fmt.Sprint(s.life, "-", i)
	s.ledger.begin("provider/keys", value)
	return s.ledger.ack("provider/keys", s.store.SaveCached(context.Background(), "keys", []byte(value)))
}

func findProviderDocument(s *site, key string) (string, error) {
	value, err := s.store.Cached(context.Background(), key)
	return string(value), err
}

// saveControl replaces the volume, or creates or deletes one of three schedules.
func saveControl(s *site, i int) error {
	key, value := control.KeyVolume, fmt.Sprintf(`{"life":%d,"volume":%d}`, s.life, i)
	if i%2 == 0 {
		key = fmt.Sprint("schedule/", i%3)
		value += strings.Repeat(" ", i*97%3000)
	}
	if i%8 == 6 {
		s.ledger.begin("control/"+key, "")
		return s.ledger.ack("control/"+key, s.store.SaveControl(context.Background(), key, nil))
	}
	s.ledger.begin("control/"+key, value)
	return s.ledger.ack("control/"+key, s.store.SaveControl(context.Background(), key, []byte(value)))
}

func findControl(s *site, key string) (string, error) {
	records, err := s.store.Controls(context.Background())
	return string(records[key]), err
}
