package logging

func mqttMessages() []Message {
	return []Message{
		{
			"f69763d250204b15b7da3ce93d036573", "MQTT command refused",
			"A message at @PRESSBOX_TOPIC@ is not a valid command, or its announcement cannot be accepted: @PRESSBOX_ERR@. It was acknowledged, and the broker does not send it again.",
		},
		{
			"81a024369cd440c08114bfec6eca22b0", "MQTT event dropped",
			"An event could not be published at @PRESSBOX_TOPIC@: @PRESSBOX_ERR@. Events are not repeated; the present state is published again after each connection.",
		},
		{
			"187efd9a6a7a4e55a7dab86a3f1557b9", "MQTT connected",
			"The server is connected to the MQTT broker @PRESSBOX_BROKER@.",
		},
		{
			"561d08cfdf934471bd21897752a61723", "MQTT broker unavailable",
			"The server cannot connect to the MQTT broker @PRESSBOX_BROKER@: @PRESSBOX_ERR@. It tries again, at least once a minute, and does not log further attempts. Check MQTT_URL, MQTT_USERNAME and the password.",
		},
		{
			"f92fb68d2dc5459d9a325bdd9243ec31", "MQTT connection lost",
			"The connection to the MQTT broker @PRESSBOX_BROKER@ ended: @PRESSBOX_ERR@. The server connects again. For ten minutes the broker keeps what is published with QoS 1 meanwhile.",
		},
		{
			"17af66b02cca47bf9a9ad52929ed5b9a", "MQTT stopped: client ID in use",
			"Another process uses the MQTT client ID @PRESSBOX_CLIENT@, so that each ended the connection of the other. Usually the store was copied to a second host. Delete the store of one of them, or switch its MQTT off, and restart both.",
		},
		{
			"c95c7d6159ae4b48baa4c2fbc3ba8c6c", "retained MQTT message ignored",
			"A command was published to @PRESSBOX_TOPIC@ as a retained message, which would be spoken again after each connection. It is ignored. Publish commands without the retain flag, and delete this one with an empty retained message.",
		},
	}
}
