package logging

import "slices"

// A Message is one kind of log record with its entry in the journal's catalog, which
// "journalctl -x" prints.
type Message struct {
	ID      string // 128 bits in hexadecimal; never changed once released
	Text    string // as logged
	Explain string // meaning and remedy; @FIELD@ is replaced by the record's field
}

// Messages returns the catalog.
func Messages() []Message {
	return slices.Concat(serverMessages(), wyomingMessages(), speechMessages(), controlMessages(), storeMessages(), voiceMessages(), signInMessages(), gameMessages(), seasonMessages(), mqttMessages())
}

func serverMessages() []Message {
	return []Message{
		{
			"86eba205fa654f418635a339a06ebae6", "listening",
			"The server is ready and listens at @PRESSBOX_URL@.",
		},
		{
			"f270c5db3e7b4d9ea4ee02eefca4a34b", "stopping",
			"The server received a signal to stop. It finishes the current sentence within five seconds. Waiting announcements stay in the queue and are spoken after the next start unless they expire.",
		},
		{
			"bc505da59a7742b6b95d7f8dd69e5d77", "reloaded",
			"The server reloaded its settings, its lexicon and its templates of webhooks and searched for new voices.",
		},
		{
			"e3c1a94ffda64057b1c966e909b0ce3c", "settings of the page ignored",
			"Settings that administrators have set on the page are not valid in this version: @PRESSBOX_ERR@. Their values in the files apply. Set or reset them on the page.",
		},
		{
			"14f22afd895e4709bba1867c7f6e87fc", "reload failed: invalid settings",
			"The settings are invalid: @PRESSBOX_ERR@. The previous ones stay in effect. Correct them, check them with \"pressbox config\", and run \"systemctl reload pressbox\".",
		},
		{
			"7ff3d1e43bb140ba8133823e26b2e978", "setting change requires a restart",
			"The setting @PRESSBOX_KEY@ has changed and is not applied on reload. Run \"systemctl restart pressbox\"; no client is refused during the restart.",
		},
		{
			"84cc9ffa68d241eaad86332fb3cf0a5e", "lexicon incomplete",
			"@PRESSBOX_ERR@. The other lines of LEXICON_FILE are in effect. Correct these and run \"systemctl reload pressbox\".",
		},
		{
			"89eb85c20f9344f0b6881b39ae9d1e03", "webhook templates invalid",
			"@PRESSBOX_ERR@. These webhooks respond with this error; the others work. Correct the templates and run \"systemctl reload pressbox\".",
		},
		{
			"e1519a6c619b44d49a3bffe5bab4289e", "HOST and PORT ignored: socket passed by systemd",
			"pressbox.socket listens on @PRESSBOX_LISTENING@, and HOST and PORT name @PRESSBOX_SETTINGS@. Run \"pressbox set-port N\" to set both.",
		},
		{
			"1263d251350542a4af9ce5ac0a09a69f", "component hangs",
			"The component @PRESSBOX_PART@ makes no progress: @PRESSBOX_ERR@. The server no longer notifies the watchdog, so systemd ends it with SIGQUIT, which writes the stacks of all goroutines to the journal, and starts it again. Accepted announcements are spoken after that. If this repeats, report it with the output of \"journalctl -u pressbox\".",
		},
		{
			"6634a24c20a941e689d9ef4808e0b4b0", "sd_notify failed",
			"The server could not notify systemd: @PRESSBOX_ERR@. It works, but \"systemctl status\" may be out of date.",
		},
		{
			"049dd716436d4680b4163f731d83ab1f", "EXIT_ON_IDLE ignored: no socket from systemd",
			"EXIT_ON_IDLE requires that pressbox.socket starts the server again on the next request. This server opened its port itself. Start it by pressbox.socket, or set EXIT_ON_IDLE=0.",
		},
		{
			"1474ac74251c48a984adc4a4a95b9a13", "open to every address",
			"With NOTIFY_ACCESS=open and PUBLIC_URL or TRUSTED_PROXIES, every client that reaches the server may @PRESSBOX_PERMITTED@, also from the internet. If that is not intended, set NOTIFY_ACCESS to lan or token.",
		},
		{
			"581d2a56a08d419db1ee4b0f251481bd", "idle timeout, exiting",
			"The server was idle for EXIT_ON_IDLE seconds. pressbox.socket starts it again on the next request.",
		},
		{
			"1a360c2776d44d1d8a64efcf1afaf182", "unknown setting in .env",
			"A line of the file .env in the working directory is ignored: @PRESSBOX_LINE@.",
		},
		{
			"5f948a1a358f40fab7604271773d86b6", "request",
			"The server answered a request. Internal errors are logged at the level ERROR with PRESSBOX_ERR; the response has the same PRESSBOX_REQUEST_ID.",
		},
	}
}

func wyomingMessages() []Message {
	return []Message{
		{
			"0259530a27c34bdcbcf87a086fc85dd1", "wyoming listening",
			"The server speaks to clients of the Wyoming protocol, such as Home Assistant, at @PRESSBOX_ADDRESS@.",
		},
		{
			"5453f0feefc0443890f0c8b6315a5ca2", "wyoming unavailable",
			"The server cannot listen for clients of the Wyoming protocol at @PRESSBOX_ADDRESS@: @PRESSBOX_ERR@. Everything else works. Stop the program that uses the port, set WYOMING_PORT to another port, or set WYOMING=off; then run \"systemctl restart pressbox\".",
		},
		{
			"1f62b554ffca4e33881f01122007c08d", "wyoming request",
			"The server synthesized speech for the client @PRESSBOX_CLIENT@ of the Wyoming protocol. Internal errors are logged at the level ERROR with PRESSBOX_ERR.",
		},
	}
}

func speechMessages() []Message {
	return []Message{
		{
			"33a732c3d4244f429c6ee523b073fd64", "audio output unavailable",
			"There is no sink to play on: @PRESSBOX_ERR@. Announcements are accepted and wait until they expire. The server keeps trying to connect. \"pressbox doctor\" finds the problem and its remedy.",
		},
		{
			"ad9ead29b3554785bf1c879ad5ebcbcf", "audio output connected",
			"The server plays on the sink @PRESSBOX_SINK@ of @PRESSBOX_SERVER@, whose volume is @PRESSBOX_VOLUME@ %.",
		},
		{
			"8b2f0c7d5d9144a2a3a6d2f0c1e75b94", "sink volume low",
			"The volume of the sink @PRESSBOX_SINK@ is @PRESSBOX_VOLUME@ %: announcements may not be heard in the next room. A new sound card has 40 %. \"pressbox doctor\" prints the command that changes it. To speak more softly, set VOLUME instead, which leaves urgent announcements louder than others.",
		},
		{
			"dc40c12af2cd4b41a240d892d047de61", "announcement accepted",
			"An announcement was accepted and saved. PRESSBOX_ANNOUNCEMENT is its id; its text is never logged.",
		},
		{
			"341e62ba8f4f40838f0a2368cf7da687", "announcement ended",
			"An announcement ended with the status @PRESSBOX_STATUS@.",
		},
		{
			"a1490c7509484f0ebf9fec083b4c3fc4", "announcement failed",
			"An announcement could not be spoken: @PRESSBOX_ERR@. \"pressbox doctor\" checks the voices and what they need.",
		},
		{
			"ab10540ad38e4e98a7447a3aa988c615", "announcement interrupted, it will be spoken again",
			"The connection to the sound server broke during an announcement: @PRESSBOX_ERR@. The announcement is spoken again from its beginning after the server has reconnected.",
		},
		{
			"bfcc24cec1a74689973ff18a2ee393c3", "end of announcement not saved, it may be spoken again after a restart",
			"The end of an announcement could not be saved: @PRESSBOX_ERR@. The server tries again at the end of the next one. Usually the disk is full or broken: see \"df -h /var/lib/pressbox\" and \"journalctl -k\".",
		},
		{
			"03d17a152dd34ca6b5847c4a245c3017", "expiry of announcements not saved",
			"The expiry of announcements could not be saved: @PRESSBOX_ERR@. Usually the disk is full or broken: see \"df -h /var/lib/pressbox\" and \"journalctl -k\".",
		},
		{
			"140531483b1b4a16b9ce34ccaf3cdeda", "end of announcements not saved, they may be spoken after a restart",
			"Announcements ended unspoken, because of quiet, mute or their priority, and that could not be saved: @PRESSBOX_ERR@. Usually the disk is full or broken: see \"df -h /var/lib/pressbox\" and \"journalctl -k\".",
		},
		{
			"e07bf95b0577445aabf55d1c235790c7", "interruption not saved, more of the announcement may be spoken again after a restart",
			"An urgent announcement or a stop interrupted another one, and the sentence from which that one continues could not be saved: @PRESSBOX_ERR@. Usually the disk is full or broken: see \"df -h /var/lib/pressbox\" and \"journalctl -k\".",
		},
		{
			"f20a4cde2de84ad8bd55be6100a79388", "repetition not saved, one more may be spoken after a restart",
			"An announcement was repeated, and the remaining number of repetitions could not be saved: @PRESSBOX_ERR@. Usually the disk is full or broken: see \"df -h /var/lib/pressbox\" and \"journalctl -k\".",
		},
		{
			"6f45680419f6449e86f96b6fc7888ab1", "texts of ended announcements not deleted",
			"HISTORY is off, and the texts of announcements that ended earlier could not be deleted: @PRESSBOX_ERR@. Usually the disk is full or broken: see \"df -h /var/lib/pressbox\" and \"journalctl -k\".",
		},
		{
			"a9e981ab5b254ca5815d549b3e6b7751", "other streams not lowered",
			"An announcement is spoken while other programs play at their own volume: @PRESSBOX_ERR@. \"pressbox doctor\" checks the sound server; DUCK=0 switches the lowering off.",
		},
		{
			"43fde7176d3b4991bd612cf543b0571a", "volume of a stream not changed",
			"The sound server refused to change the volume of a stream of another program: @PRESSBOX_ERR@. Run \"pressbox setup-audio\" again: it permits this on PipeWire.",
		},
		{
			"070316d933364b2b91747b9a73216937", "lowered streams not restored",
			"Other programs may still play at the volume to which they were lowered: @PRESSBOX_ERR@. Their volumes are restored when the server has connected to the sound server.",
		},
	}
}

func controlMessages() []Message {
	return []Message{
		{
			"23e8554088bd41579119bbcc986bd78a", "message of another room refused",
			"A message on the MQTT topic @PRESSBOX_TOPIC@ was not followed: @PRESSBOX_ERR@. If the queue or the disk is full, the other room sends the announcement again until it expires.",
		},
		{
			"1d5b2288e392405c907988441088ab88", "state of another room not saved",
			"The room @PRESSBOX_ROOM@ has not reported in time on the announcement @PRESSBOX_ANNOUNCEMENT@, and that could not be saved: @PRESSBOX_ERR@. After a restart the server waits for that room again, for a short time.",
		},
		{
			"5d0b7f6c2a914e7c9f3e8b1d46a0c275", "control changed",
			"@PRESSBOX_SENDER@ changed the volume, quiet, the schedules or the favorites (PRESSBOX_CONTROL). CONTROL_ACCESS decides who may.",
		},
		{
			"c2e94a71b05d4f8aa6713d9e50f8b264", "scheduled announcement missed",
			"The announcement of the schedule @PRESSBOX_SCHEDULE@ was due at @PRESSBOX_DUE@, when the server did not run or its clock was wrong. It is not made up for after more than 10 minutes.",
		},
		{
			"e7a1d35c98f04b2db4c60a7f12e9d853", "scheduled announcement not accepted",
			"The announcement of the schedule @PRESSBOX_SCHEDULE@ is not valid any more: @PRESSBOX_ERR@. The schedule goes on; correct it with \"pressbox schedules\" or on the page.",
		},
		{
			"9b4f02e6d7c14a55a83e5c1907bd6f31", "scheduled announcement delayed",
			"The announcement of the schedule @PRESSBOX_SCHEDULE@ was due and could not be accepted: @PRESSBOX_ERR@. The server tries again every 10 seconds, for 10 minutes.",
		},
		{
			"4f6be1c80a2d4c719d5703eb8c12fa96", "a control cannot be read",
			"The record @PRESSBOX_KEY@ of the volume, quiet, the favorites or a schedule is not valid: @PRESSBOX_ERR@. The setting in its place applies. The store was damaged or edited; check it with \"pressbox doctor\".",
		},
		{
			"d83a50e7f14b49c2b6e19c0d75fa2e48", "a schedule is disabled",
			"The schedule @PRESSBOX_SCHEDULE@ is not valid on this host: @PRESSBOX_ERR@. Usually its time zone is missing: install the package tzdata.",
		},
		{
			"1c97be42f06d4d38a5b28e61d03f7ac9", "replaced control not deleted",
			"What was set in place of a setting (@PRESSBOX_KEY@) was replaced by a changed setting and could not be deleted: @PRESSBOX_ERR@. It applies again if the setting is changed back.",
		},
		{
			"a60f3d9b81c54e27b0d47f8e25c913ba", "next time of a schedule not saved",
			"The next time of the schedule @PRESSBOX_SCHEDULE@ could not be saved: @PRESSBOX_ERR@. Nothing is spoken twice. Usually the disk is full or broken.",
		},
	}
}

func storeMessages() []Message {
	return []Message{
		{
			"cf45866071e14e32b3731d68d27a7e50", "expired data not deleted",
			"Idempotency keys older than a day could not be deleted from the store: @PRESSBOX_ERR@. The server tries again in ten minutes. Usually the disk is full or broken.",
		},
		{
			"320b7fe5c5114e40944aa8f6e97996e6", "an announcement cannot be read",
			"A record in the store is not a valid announcement: @PRESSBOX_ERR@. It is skipped. The store was damaged or edited; check it with \"pressbox doctor\".",
		},
		{
			"d53869b332f94c6284fd8dba021ef5d1", "size of a bucket counted wrongly",
			"After an unclean shutdown the bytes of the bucket @PRESSBOX_BUCKET@ were counted again: @PRESSBOX_SIZE@ instead of @PRESSBOX_COUNTED@. The count was corrected; no data was lost. If this repeats, report it.",
		},
		{
			"642f47866be4492fa9adba081b3a4573", "unclean shutdown, store checked",
			"The server or the host stopped without closing the store. A child process read every page of the store before the server opened it. Result: @PRESSBOX_RESULT@.",
		},
		{
			"077e40abb6714edd9c671eded2b176ef", "store damaged, backup restored",
			"The store could not be read: @PRESSBOX_ERR@. It was renamed to @PRESSBOX_ASIDE@ and replaced by the newest intact backup, @PRESSBOX_BACKUP@; with \"none\", the new store is empty. Data accepted after that backup is only in the renamed file. If the store is on a memory card, replace the card.",
		},
		{
			"974bab63db864023b7224e126845dba2", "store salvaged before an unclean shutdown",
			"The server replaced a damaged store and was then not stopped, but killed or without power: @PRESSBOX_SALVAGE@. Data accepted after that backup is only in the damaged store. The message appears at each start until the server is stopped.",
		},
		{
			"b5d52ecb4ea748499a6cdcadd616acad", "damaged backup skipped",
			"The backup @PRESSBOX_BACKUP@ cannot be restored: @PRESSBOX_ERR@. The next older one is tried.",
		},
		{
			"4dc3ffdfd2a64576a537c5ea957b93da", "backup failed",
			"The daily backup of the store failed: @PRESSBOX_ERR@. The server tries again in an hour. Usually the disk is full.",
		},
		{
			"7d3c0a5f21e94b0c8e5f64a1d9b27c38", "backup removal failed",
			"A backup older than the newest three could not be removed: @PRESSBOX_ERR@. The server tries again after the next backup.",
		},
		{
			"052bf5a6a374415298c4b3f629cddf8b", "backup created",
			"The store was copied to @PRESSBOX_BACKUP@. The server removes all but the newest three backups.",
		},
		{
			"febc02324c5e4944b59dabc4d7d19a61", "backup download incomplete",
			"An administrator requested a backup, and the server could not read the whole store: @PRESSBOX_ERR@. The partial file is not a backup. \"pressbox doctor\" checks the store.",
		},
	}
}

func voiceMessages() []Message {
	return []Message{
		{
			"35bfeceb9f114bf59347244b08de30be", "voice unusable",
			"The voice @PRESSBOX_VOICE@ cannot speak: @PRESSBOX_ERR@. Other voices are not affected. Install it again, or remove its files.",
		},
		{
			"3fb5e0c305d94d05a8145313c7779808", "voice failed, another one speaks",
			"The voice @PRESSBOX_VOICE@ failed while it spoke: @PRESSBOX_ERR@. Another voice, of the same language if there is one, speaks from the sentence that failed.",
		},
		{
			"c23834f4ae23497f9e3efaf03d17dcee", "another voice speaks",
			"The announcement @PRESSBOX_ANNOUNCEMENT@ is spoken by @PRESSBOX_INSTEAD@, because @PRESSBOX_VOICE@ cannot speak. \"pressbox voices\" lists the voices with their errors.",
		},
		{
			"98a060d47ac040a6b8cdedfbeb397fb4", "no voice found",
			"None of the directories @PRESSBOX_DIRS@ has a voice, so that nothing can be spoken. Correct MODEL_DIR, or install a voice with \"pressbox voices install\".",
		},
		{
			"adfe457e238c42c1980c593a5c273de1", "voice directory missing",
			"The directory @PRESSBOX_DIR@ does not exist. Correct MODEL_DIR, or create it. Its voices are found when it exists.",
		},
		{
			"07fc9dc36c1d40f9a80a971835567283", "voice files invalid",
			"The files of the voice @PRESSBOX_VOICE@ are invalid: @PRESSBOX_ERR@. The voice is listed with this error and not used.",
		},
		{
			"2d6203b5b78d4af1a3540d01dbd7f0dc", "voice not installed",
			"The voice @PRESSBOX_VOICE@ could not be installed from the page: @PRESSBOX_ERR@. What was downloaded stays for the next attempt.",
		},
		{
			"844eba750eea41049e66b09b3beb9928", "closing a model failed",
			"The model of the voice @PRESSBOX_VOICE@ could not be closed: @PRESSBOX_ERR@. A restart frees its memory.",
		},
		{
			"8b0407abd00d4c22b86aee0f84b17e5b", "cannot watch for new voices, reload finds them",
			"The directories of voices cannot be watched: @PRESSBOX_ERR@. Run \"systemctl reload pressbox\" after adding a voice. Usually the limit fs.inotify.max_user_instances is reached.",
		},
		{
			"c8f117c0b2294ff493d50a6c7e7502f7", "voice directory watcher failed",
			"Changes in the directories of voices may have been missed: @PRESSBOX_ERR@. The directories are read again.",
		},
		{
			"76a0cded8d6145739ef0e1be2f7de215", "cannot watch voice directory",
			"New voices in @PRESSBOX_DIR@ are not detected: @PRESSBOX_ERR@. Run \"systemctl reload pressbox\" after adding one.",
		},
		{
			"77d2b6b3a61c40059f967f564b40465b", "cannot read voice directory",
			"The voices in @PRESSBOX_DIR@ are not available: @PRESSBOX_ERR@. The user pressbox must be able to read the directory.",
		},
		{
			"c81aad3af5bd40b7998fa42e8ba67099", "voice calibration not saved",
			"The calibration of the voice @PRESSBOX_VOICE@ could not be saved: @PRESSBOX_ERR@. The voice is calibrated again after a restart.",
		},
		{
			"2c29a98f30e94fe9b248a12138cd5add", "saved voice calibration unreadable",
			"The saved calibration of a voice cannot be read: @PRESSBOX_ERR@. The voice is calibrated again.",
		},
		{
			"57bdb47bfa814dbdac5277de877c9292", "voice has no id for phoneme",
			"The voice @PRESSBOX_VOICE@ does not have the phoneme @PRESSBOX_PHONEME@ and omits it. Logged once per voice and phoneme. Use a voice for the language of the message.",
		},
	}
}

func signInMessages() []Message {
	return []Message{
		{
			"abd12e5953504eda8e0c0908dcb0dc94", "refresh token used twice, session ended",
			"A refresh token is valid once. This one was used a second time, so it may have been stolen. Its session was ended; the user has to sign in again.",
		},
		{
			"2017992d6a9b4d109903956e089ae136", "provider returned no name",
			"The sign-in provider @PRESSBOX_PROVIDER@ confirmed a sign-in but returned no name: @PRESSBOX_ERR@. IDP_NAME_FIELD or IDP_SCOPES may have to be set.",
		},
		{
			"b2b3416a9a81424e99dc3ba605172df2", "discovery document outdated",
			"The sign-in provider @PRESSBOX_ISSUER@ does not answer: @PRESSBOX_ERR@. Its last known discovery document is used.",
		},
		{
			"643916d2d4824c4da8fe4b53eea0c854", "discovery document not cached",
			"The discovery document of the sign-in provider could not be saved: @PRESSBOX_ERR@. It is fetched again after a restart.",
		},
		{
			"bdf613a1e41348df89f9d99e4963e398", "token revocation failed",
			"The sign-in provider @PRESSBOX_PROVIDER@ did not revoke a token that is no longer needed: @PRESSBOX_ERR@. The token expires by itself.",
		},
		{
			"8d6b45756ec84b11aa7efc7759d6f28c", "passphrase rehash failed",
			"A passphrase still has a hash with an earlier cost: @PRESSBOX_ERR@. The next sign-in tries again.",
		},
		{
			"8c26682553374c49b10359b190fe2f29", "cannot watch for clock changes; polling every 10 minutes",
			"The kernel refused to report clock changes: @PRESSBOX_ERR@. Sessions detect a change within ten minutes.",
		},
		{
			"c5fc4a10355447d3ab9fbfc0dbb8aa41", "clock changed",
			"The host's clock changed by @PRESSBOX_BY@. The age of sessions does not change.",
		},
		{
			"f02f369fdf22462e99d618afa4e97800", "session cleanup failed",
			"Expired sessions and sign-ins were not removed: @PRESSBOX_ERR@. The server tries again in ten minutes. Usually the disk is full.",
		},
		{
			"65e32a3c9cd94e2790edb39578c74f68", "reading cached team data failed",
			"The cached team data of @PRESSBOX_RESOURCE@ cannot be read from the store: @PRESSBOX_ERR@. It is fetched again.",
		},
		{
			"e800484994514b9cb69d97a4966e475a", "caching team data failed",
			"The team data of @PRESSBOX_RESOURCE@ could not be stored: @PRESSBOX_ERR@. Usually the disk is full.",
		},
		{
			"8e181caaa5b4473781b0030883e1c00e", "revalidating team data failed",
			"The team-data API has no valid response for @PRESSBOX_RESOURCE@: @PRESSBOX_ERR@. Data of @PRESSBOX_FETCHED@ is used. Check TEAM_DATA_URL and TEAM_DATA_TOKEN.",
		},
	}
}

func gameMessages() []Message {
	return []Message{
		{
			"2f8df0061bd04eeca8aed0c08547659a", "game unreadable",
			"The game @PRESSBOX_GAME@ is in the store and cannot be read: @PRESSBOX_ERR@. It is not listed; other games are not affected. \"pressbox doctor\" checks the store.",
		},
		{
			"a0ba110b0b814eac933bd0504f2a5e5e", "automatic game update failed",
			"An automatic change of the game @PRESSBOX_GAME@ failed (@PRESSBOX_WHY@): @PRESSBOX_ERR@. It is retried. Usually the disk is full.",
		},
		{
			"0c9e9dba652d419ca3ff50f9272b4390", "game evicted after a panic",
			"A bug in the server interrupted the game @PRESSBOX_GAME@: @PRESSBOX_ERR@. The game is read from the store again; other games are not affected. Please report it.",
		},
		{
			"776b72647abb4cd3a93268ea995c954b", "side not returned to its manager",
			"A manager of the game @PRESSBOX_GAME@ reconnected, and the @PRESSBOX_SIDE@ side could not be returned by the bot: @PRESSBOX_ERR@. It is retried when the manager connects again; the manager can also take the side back.",
		},
		{
			"3d8727d0c7d44aa284e26eb7419a3859", "expired pending game not deleted",
			"The game @PRESSBOX_GAME@ did not start within 7 days and could not be deleted: @PRESSBOX_ERR@. It is retried.",
		},
		{
			"1a07a763a1854dd8a6adaddc9c61168d", "old game not deleted",
			"The store is nearly full, and the old game @PRESSBOX_GAME@ could not be deleted to make room: @PRESSBOX_ERR@.",
		},
		{
			"8ed4c80dd6954fda8da70a540d7c109e", "game removed by the administrator",
			"The administrator deleted the game @PRESSBOX_GAME@ with \"pressbox games remove\".",
		},
		{
			"8d3f5b1c9a2e4f60b7c4d1e86f0a3b57", "game summary not saved",
			"The summary of the game @PRESSBOX_GAME@ was rebuilt from its moves and could not be saved: @PRESSBOX_ERR@. It is rebuilt at the next start. Usually the disk is full.",
		},
		{
			"647c1484ac054814b2461daec25f810d", "websocket message not encoded",
			"A message of a game could not be encoded as JSON: @PRESSBOX_ERR@. The websocket was closed; the page reconnects and requests it again. Report this error.",
		},
		{
			"8404dc46b1844406b55d6236c4e0cdcb", "websocket request failed",
			"A frame of a websocket client failed because of an internal error: @PRESSBOX_ERR@. After a panic the connection was closed, and the page reconnects by itself.",
		},
	}
}

// seasonMessages are those of leagues, imported seasons, cards and wall displays.
func seasonMessages() []Message {
	return []Message{
		{
			"e2b1a9d04c5f4d0fb7a66c6d3f1b8a25", "league removed by the administrator",
			"The administrator deleted the series or league @PRESSBOX_LEAGUE@ with \"pressbox leagues remove\". Its games were not deleted.",
		},
		{
			"4f0c7d1e92ab4e6f8d35b1c6a07e9d52", "league unreadable",
			"The series or league @PRESSBOX_LEAGUE@ is in the store and cannot be read: @PRESSBOX_ERR@. It is not listed; others are not affected. \"pressbox doctor\" checks the store.",
		},
		{
			"91d6e3b87f204c5aa1f2d84e6b3c0a77", "league cannot advance",
			"The next step of the series or league @PRESSBOX_LEAGUE@ failed: @PRESSBOX_ERR@. It is retried, at most 10 minutes later. Usually the disk is full, or the team-data API is unavailable.",
		},
		{
			"6eefcf2c978e4705b060b341fb2b291c", "player statistics unavailable",
			"The seasons of the players of the game @PRESSBOX_GAME@ could not be read: @PRESSBOX_ERR@. Their cards do not have them. \"pressbox doctor\" checks the store.",
		},
		{
			"51c73a9360364eba9780aae57f5191ae", "game not shown on a wall display",
			"The game @PRESSBOX_GAME@ could not be read: @PRESSBOX_ERR@. Wall displays leave it out.",
		},
		{
			"265568555f08411eb5d9ebe578c4c840", "standings not shown on a wall display",
			"The standings could not be read: @PRESSBOX_ERR@. Wall displays show neither standings nor leaders.",
		},
		{
			"f6941b81356c4b0d801e5344ad00c01c", "leaders not shown on a wall display",
			"The leaders could not be read: @PRESSBOX_ERR@. Wall displays show neither standings nor leaders.",
		},
		{
			"51899bca82f3481cafdf2c8dd05d6ed4", "Wi-Fi network not shown on wall displays",
			"The passphrase of the guests' Wi-Fi could not be read: @PRESSBOX_ERR@. Correct WALL_WIFI_PASSPHRASE_FILE, and restart the server.",
		},
		{
			"5c1f0b4e2d7a49c6a8e3f1b09d6c7e24", "season imported by the administrator",
			"The administrator imported the clubs of @PRESSBOX_SEASON@ with \"pressbox teams import\": @PRESSBOX_GAMES@ games were replayed, @PRESSBOX_REJECTED@ could not be.",
		},
		{
			"b7e94a1d60c84f3f9d25c8e07a3b61f2", "season removed by the administrator",
			"The administrator deleted the imported clubs of @PRESSBOX_SEASON@ with \"pressbox teams remove\".",
		},
	}
}
