# Pressbox. "make run" starts it; run "make check test" before every commit.

VERSION  := $(shell sed -n 's/^\#\# \([0-9][^ ]*\).*/\1/p' CHANGELOG.md | head -n 1)
RELEASED := $(shell sed -n 's/^\#\# [0-9][^ ]* (\(.*\))/\1/p' CHANGELOG.md | head -n 1)
REVISION := $(shell packaging/revision)
LDFLAGS   = -s -w -X main.version=$(VERSION) -X main.released=$(RELEASED) -X main.revision=$(REVISION)

# Programs that only develop are pinned here.
TOOLS    := $(CURDIR)/.build/bin
LINT     := $(TOOLS)/golangci-lint-v2.15.0
MISSPELL := go run github.com/golangci/misspell/cmd/misspell@v0.8.0
DEADCODE := go run golang.org/x/tools/cmd/deadcode@v0.52.0

export ONNXRUNTIME_LIB := $(CURDIR)/bin/libonnxruntime.so
# Otherwise each program with the race detector sleeps for a second at its end.
export GORACE := atexit_sleep_ms=0
FUZZTIME ?= 20s

# Tests named TestAll_ belong to "make test-all" only.
TEST  = go test -vet=off -timeout 30m -skip '^TestAll_'
# Packages that run without the race detector: in the browser, thousands of child processes, and what starts no
# goroutines. The longest is first.
PLAIN = ./daemon/pagetest ./daemon/recovery ./daemon/disktest ./daemon/web/static ./voice/speakable \
	./game/bot ./game/call ./game/chance ./game/history ./game/odds ./game/realismtest ./game/retro
# Packages that record sound in real time, one after another.
SOUND = ./audio/pulse ./daemon/soundtest
# All others. The longest are first.
RACE  = ./daemon ./daemon/web/play ./game/live ./daemon/web/site ./daemon/web/signin ./daemon/web ./voice \
	$$(go list ./... | grep -vxF "$$(go list $(SOUND) $(PLAIN))")
# Tests of the race detector's packages that run without it: the scripts start hundreds of processes, which take twice
# as long with it; its code has no goroutine to be dumped by a signal, on which Go 1.26 fails.
UNRACED = ^TestScripts$$|^TestServe_dumpOnSIGQUIT$$
# Tests of what espeak-ng prints, which "make test-all" runs once more with the next Debian's.
PHONEMES = ^TestText_|^TestPhonemizer_phonemes$$|^TestBundled_havePhonemesOfAllTexts$$
# Packages with tests of "make test-all". The longest is first.
ALL   = ./daemon/pagetest $$(git grep -l '^func TestAll_' -- '*_test.go' ':!daemon/soundtest' | xargs -n 1 dirname | sed 's|^|./|')

.PHONY: run build test test-all test-short vendor types check bench bench-policies fuzz test-crash deb repo oci image image-same release \
	test-homeassistant test-package test-image generate fmt lint tools parts parts-all voices clean

run: build ## start the server on port 8888, with everything it needs
	@packaging/run bin/pressbox serve

build: bin/libonnxruntime.so ## bin/pressbox, and ONNX Runtime beside it
	go build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o bin/pressbox ./daemon

bin/libonnxruntime.so: packaging/onnxruntime/SHA256SUMS
	@packaging/onnxruntime/fetch $$(go env GOARCH) $@
	@touch $@

parts: bin/libonnxruntime.so .build/oidc-provider/node_modules .build/openai-client/node_modules \
	.build/page/node_modules .build/caddy .build/mosquitto .build/alertmanager ## install what "make test" needs
	@packaging/need espeak-ng pulseaudio pulseaudio-utils pipewire pipewire-pulse wireplumber chromium-headless-shell \
		curl fuse3 iproute2 ffmpeg python3-paho-mqtt apt-utils gnupg dbus

parts-all: parts .build/piper .build/voices .build/ntfy/node_modules .build/ntfy-pip .build/espeak ## and what "make test-all" needs
	@packaging/need firefox-esr apprise

# The reverse proxy of packaging/doc/https.md.
.build/caddy:
	@packaging/unpack caddy usr/bin/caddy $@

# espeak-ng of Debian 13, whose phonemes are not those of Debian 12.
.build/espeak:
	@packaging/espeak $@

# The MQTT broker of the tests, and the libraries that it needs.
.build/mosquitto:
	@packaging/unpack mosquitto usr/sbin/mosquitto $@.new
	@packaging/need $$(apt-cache depends mosquitto | sed -n 's/^ *Depends: \(lib[^ ]*\)$$/\1/p')
	@mv $@.new $@

# A sender of webhooks, which looks for its files in the working directory instead of
# /usr/share.
.build/alertmanager:
	@packaging/unpack prometheus-alertmanager usr/bin/prometheus-alertmanager $@.new
	@LC_ALL=C sed -i 's|/usr/share/prometheus/alertmanager|./././././././././././././././././|g' $@.new
	@mv $@.new $@

# A third-party sign-in provider, OpenAI's client, what the page uses and is checked with, and what makes its types from
# the schemas of the API. What the page uses is also in the repository (static/vendor).
.build/oidc-provider/node_modules: daemon/web/signin/testdata/oidc-provider/package-lock.json
.build/openai-client/node_modules: daemon/web/openai/testdata/client/package-lock.json
.build/ntfy/node_modules: daemon/web/push/testdata/ntfy/package-lock.json
.build/page/node_modules: daemon/web/static/package-lock.json
.build/types/node_modules: daemon/web/openapi/types/package-lock.json
.build/oidc-provider/node_modules .build/openai-client/node_modules .build/ntfy/node_modules: NODE = node@22
.build/%/node_modules:
	@packaging/npm $(<D) $(@D) $(NODE)

vendor: .build/page/node_modules ## update daemon/web/static/vendor after a change of its package.json
	npm install --prefix daemon/web/static --package-lock-only --omit-lockfile-registry-resolved=true --no-audit --no-fund
	packaging/npm daemon/web/static .build/page
	NODE_PATH=.build/page/node_modules .build/page/node_modules/.bin/esbuild daemon/web/static/lit-html.ts \
		--bundle --minify --format=esm --target=es2022 --legal-comments=none \
		--banner:js='// lit-html, BSD-3-Clause, Copyright 2017 Google LLC: lit-html.LICENSE' \
		--outfile=daemon/web/static/vendor/lit-html.js
	cp .build/page/node_modules/lit-html/LICENSE daemon/web/static/vendor/lit-html.LICENSE
	cp .build/page/node_modules/lean-qr/index.mjs daemon/web/static/vendor/lean-qr.js
	cp .build/page/node_modules/lean-qr/LICENSE daemon/web/static/vendor/lean-qr.LICENSE
	cp .build/page/node_modules/@fontsource/bevan/files/bevan-latin-400-normal.woff2 daemon/web/static/vendor/bevan.woff2
	cp .build/page/node_modules/@fontsource/bevan/LICENSE daemon/web/static/vendor/bevan.LICENSE
	cd daemon/web/static/vendor && sha256sum *.js *.woff2 *.LICENSE >SHA256SUMS

types: .build/page/node_modules .build/types/node_modules ## check the page's scripts against their types and the API's
	cd daemon/web/static/vendor && sha256sum --quiet -c SHA256SUMS
	node .build/types/node_modules/openapi-typescript/bin/cli.js daemon/web/openapi/components.json \
		--default-non-nullable false -o .build/types/api.d.ts >/dev/null
	node .build/page/node_modules/typescript/bin/tsc -p daemon/web/static

test: ## the tests, with real parts and the race detector
	@# Compiled while parts are installed; by one command at a time, or each compiles the same.
	@go list -race -test -export $(SOUND) $(RACE) >/dev/null & race=$$!; \
	$(MAKE) --no-print-directory parts build && go list -test -export $(PLAIN) >/dev/null && wait $$race
	@# None of the three keeps a processor busy. What records sound in real time goes first.
	{ $(TEST) -race -p 1 $(SOUND) && $(TEST) -run '$(UNRACED)' ./daemon; } & sound=$$!; \
	nice -n 19 $(TEST) -p 1 $(PLAIN) & plain=$$!; \
	nice -n 19 $(TEST) -race -p 3 -skip '^TestAll_|$(UNRACED)' $(RACE); \
	status=$$?; wait $$sound || status=1; wait $$plain || status=1; exit $$status

test-all: test parts-all ## and all others: contact sheets, every size and language, whole samples, Firefox, long kills
	go test -vet=off -timeout 30m -run '^TestAll_' ./daemon/soundtest
	PATH=$(CURDIR)/.build/espeak:$$PATH go test -vet=off -run '$(PHONEMES)' ./voice/speakable ./voice/espeak ./voice/library
	go test -vet=off -timeout 30m -run '^TestAll_' -p 3 $(ALL)
	@# The voices are those that their recipe makes, byte for byte.
	$(MAKE) --no-print-directory voices VOICES=.build/again
	for file in $$(cd .build/again && find . -type f); do cmp .build/again/$$file models/$$file || exit 1; done
	@[ "$$(packaging/revision)" != "$(REVISION)" ] || touch .build/passed-$(REVISION) # for "make release"

test-short: ## the tests that need Go and gcc only
	go test -vet=off -short -skip '^TestAll_' ./...

test-crash: parts build ## every power cut, the long kill tests, and a whole game of every kind
	PRESSBOX_CRASH_STATES=all go test -timeout 240m -run 'owerCut|iskFails' -v ./daemon/recovery ./daemon/disktest
	PRESSBOX_CRASH_ROUNDS=200 go test -timeout 60m -run 'Crash|[Kk]ill' -v ./store ./daemon
	PRESSBOX_CRASH_ROUNDS=20 go test -timeout 60m -run TestAll_mqttFaults -v ./daemon
	PRESSBOX_CRASH_ROUNDS=30 go test -timeout 60m -run TestAll_goesOn -v ./daemon/soundtest
	PRESSBOX_CRASH_ROUNDS=1000 go test -timeout 60m -run Crash -v ./game/live
	PRESSBOX_CRASH_ROUNDS=1 go test -timeout 60m -run TestWholeGames -v ./daemon/web/play

# Where the trees of Home Assistant are: 3 GB each.
HOMEASSISTANT = $(CURDIR)/.build/homeassistant

test-homeassistant: parts build ## a real Home Assistant, the newest and an older one: ten minutes once, then two each
	packaging/homeassistant/setup $(HOMEASSISTANT)/2026.11 2026.11.0 forky
	packaging/homeassistant/setup $(HOMEASSISTANT)/2026.2 2026.2.3 trixie
	PRESSBOX_HOMEASSISTANT=$(HOMEASSISTANT)/2026.11 go test -tags homeassistant -count=1 -timeout 30m -v ./daemon/homeassistant
	PRESSBOX_HOMEASSISTANT=$(HOMEASSISTANT)/2026.2 go test -tags homeassistant -count=1 -timeout 30m -v ./daemon/homeassistant

deb: ## dist/pressbox_VERSION_{amd64,arm64,armhf}.deb, each with a bill of materials
	@packaging/deb/build $(VERSION)

repo: ## dist/repo, an apt repository of the packages in dist/: make repo REPO_KEY=FINGERPRINT REPO_URL=https://HOST/PATH
	@packaging/repo/build "$(REPO_KEY)" "$(REPO_URL)"

oci: ## dist/pressbox-VERSION-{amd64,arm64}.oci.tar, container images of the packages, which are built before
	@packaging/deb/build $(VERSION) amd64 arm64
	@packaging/oci/build $(VERSION)

# IMAGE_SOURCES, two addresses: Debian's archive and its security archive, from which images are made and upgrade.
image: ## dist/pressbox-VERSION-{amd64,rpi-arm64}.img.xz: make image [IMAGE=ARCH] [REPO_URL=URL] IMAGE_SOURCES="URL URL"
	@packaging/image/build $(VERSION) $(IMAGE)

image-same: ## build the images twice, and compare them
	@packaging/image/same $(VERSION) $(IMAGE)

release: ## dist/: all of a version, signed: make release REPO_KEY=… REPO_URL=… IMAGE_SOURCES="… …"
	@packaging/release/build "$(REPO_KEY)" "$(REPO_URL)"

test-package: ## the package on a booted Debian 12 and 13: install, activate, kill, upgrade, remove; the container
	@packaging/installed/run

test-image: build ## the images on emulated computers: first word, pressbox.txt, power cuts, wall display, upgrade (hours)
	@packaging/image/imagetest/run

# What 32 bits do not build needs cgo or, for tests, FUSE on 64 bits. Tests run on 32 bits too, where a duration is no int.
check: lint types ## static checks: format, vet, lint, spelling, types, floors, dead code, generated files, test-short
	@packaging/again go mod download
	go mod verify
	go mod tidy -diff
	go vet ./...
	GOARCH=arm CGO_ENABLED=0 go build $$(go list -f '{{if .GoFiles}}{{.ImportPath}}{{end}}' ./... | \
		grep -vE '/(daemon|cli|doctor|onnx|voicetest|crashtest|disktest)$$')
	GOARCH=386 CGO_ENABLED=0 go test -vet=off -short -skip '^TestAll_' ./audio/... ./auth/... ./daemon/mqtt/device \
		./daemon/wyoming/frame ./game/... ./store ./voice/announce ./voice/announce/plan ./voice/control/... ./voice/rooms
	go test -count=1 -run 'TestFloors|TestGenerated|TestSource' ./daemon/... ./packaging/check
	@out=$$(packaging/again $(DEADCODE) -test ./... && $(DEADCODE) ./daemon); [ -z "$$out" ] || { echo "$$out"; exit 1; }
	packaging/bare make test-short

lint: $(LINT)
	$(LINT) fmt --diff
	$(LINT) run --allow-parallel-runners
	git ls-files -z ':!*.go' ':!models' ':!voice/speakable' | xargs -0 $(MISSPELL) -error -locale US -source text -i cancelled,mosquitto

fmt: $(LINT)
	$(LINT) fmt

$(LINT):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) packaging/again go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
	mv $(TOOLS)/golangci-lint $@

generate: ## generate documents, schemas and tables from the code
	go generate ./...

# Snapcast, and the libraries that it needs.
.build/snapserver .build/snapclient:
	@packaging/unpack $(@F) usr/bin/$(@F) $@.new
	@packaging/need $$(apt-cache depends $(@F) | sed -n 's/^ *Depends: \(lib[^ ]*\)$$/\1/p')
	@mv $@.new $@

bench: parts build .build/snapserver .build/snapclient .build/piper ## the benchmarks, with ratios against a limit or a peer
	@packaging/bench

bench-policies: parts ## every habit against the bot, in all settings: hours
	go test ./game/bot -run '^$$' -bench BenchmarkPolicies -benchtime 1x -timeout 0 -policies.all

fuzz: parts ## every fuzz target for FUZZTIME
	@packaging/fuzz $(FUZZTIME)

# VOICES is where they are written.
voices: .build/voices ## make the bundled voices again, from the network that they have
	.build/voices/bin/python models/voices.py $(or $(VOICES),models)

.build/voices: models/requirements.txt
.build/piper: voice/testdata/piper/requirements.txt
.build/ntfy-pip: daemon/web/push/testdata/ntfy/requirements.txt
.build/voices .build/piper .build/ntfy-pip:
	@packaging/need python3-venv
	python3 -m venv $@
	packaging/again $@/bin/pip install -q --require-hashes --no-deps -r $< || { rm -r $@; false; }
	@touch $@

clean:
	rm -rf bin .build dist
