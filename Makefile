# Pressbox. "make run" starts it; run "make check test" before every commit.

VERSION := $(shell sed -n 's/^\#\# \([0-9][^ ]*\).*/\1/p' CHANGELOG.md | head -n 1)
RELEASED := $(shell sed -n 's/^\#\# [0-9][^ ]* (\(.*\))/\1/p' CHANGELOG.md | head -n 1)
LDFLAGS = -s -w -X main.version=$(VERSION) -X main.released=$(RELEASED) -X main.revision=$(shell packaging/revision)
GO_FILES := $(shell git ls-files -- '*.go' 2>/dev/null)

# Tools are pinned here, so that go.mod holds only what ships.
TOOLS      := $(CURDIR)/.build/bin
LINT       := $(TOOLS)/golangci-lint-v2.15.0
DEADCODE   := go run golang.org/x/tools/cmd/deadcode@v0.52.0
NPM_CI     := packaging/again npm ci --no-audit --no-fund

export ONNXRUNTIME_LIB := $(CURDIR)/bin/libonnxruntime.so
FUZZTIME   ?= 20s
# Packages whose tests record sound in real time; they run alone.
REALTIME   := ./audio/pulse ./daemon/soundtest
# Packages whose tests take large samples and start no goroutines of the product: with the
# race detector they take small ones.
SAMPLED    := ./game/bot ./game/call ./game/chance ./game/history ./game/odds ./game/realismtest ./game/retro
# Tests that start hundreds of programs, which takes forty times as long with the race detector.
PROGRAMS   := ^(TestPowerCut|TestOpen_diskFails|TestServer_diskFails)
# The tests that run without the race detector: these, in the browser or on three hosts, with the whole samples,
# and of texts, which start no goroutine either.
NORACE     := ./daemon/pagetest ./daemon/recovery ./daemon/disktest ./daemon/roomtest ./voice/speakable $(SAMPLED)
OTHERS      = $$(go list ./... | grep -vxF "$$(go list $(REALTIME) $(STATIC) $(NORACE))") ./daemon/recovery
# Packages whose tests "make check" runs.
STATIC     := ./packaging/language

.PHONY: run build test test-short vendor types check bench fuzz test-crash deb repo image image-same release test-package test-image generate fmt lint tools parts voice clean

run: build ## start the server on port 8888, with everything it needs
	@packaging/run bin/pressbox serve

build: bin/libonnxruntime.so ## bin/pressbox, and ONNX Runtime beside it
	go build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o bin/pressbox ./daemon

bin/libonnxruntime.so: packaging/onnxruntime/SHA256SUMS
	@packaging/onnxruntime/fetch $$(go env GOARCH) $@
	@touch $@

parts: bin/libonnxruntime.so .build/oidc-provider/node_modules .build/openai-client/node_modules .build/page/node_modules .build/caddy .build/mosquitto ## install what the tests need beyond Go
	@packaging/need espeak-ng pulseaudio pulseaudio-utils pipewire pipewire-pulse wireplumber chromium-headless-shell firefox-esr curl fuse3 iproute2 ffmpeg apprise python3-paho-mqtt apt-utils gnupg

# The reverse proxy of packaging/doc/https.md.
.build/caddy:
	@packaging/unpack caddy usr/bin/caddy $@

# The MQTT broker of the tests, and the libraries that it needs.
.build/mosquitto:
	@packaging/unpack mosquitto usr/sbin/mosquitto $@.new
	@packaging/need $$(apt-cache depends mosquitto | sed -n 's/^ *Depends: \(lib[^ ]*\)$$/\1/p')
	@mv $@.new $@

# A sender of webhooks, which looks for its files in the working directory instead of
# /usr/share.
parts: .build/alertmanager
.build/alertmanager:
	@packaging/unpack prometheus-alertmanager usr/bin/prometheus-alertmanager $@.new
	@LC_ALL=C sed -i 's|/usr/share/prometheus/alertmanager|./././././././././././././././././|g' $@.new
	@mv $@.new $@

# A third-party sign-in provider, and a Node.js for it if the host's is too old.
.build/oidc-provider/node_modules: daemon/web/signin/testdata/oidc-provider/package-lock.json
	@command -v npm >/dev/null || packaging/need npm
	@mkdir -p $(@D)
	cp daemon/web/signin/testdata/oidc-provider/package.json $< $(@D)
	$(NPM_CI) --prefix $(@D) || { rm -rf $@; exit 1; }
	node -e 'process.exit(Number(parseInt(process.versions.node) < 20))' || packaging/again npm install --prefix $(@D) --no-save --no-audit --no-fund node@22 || { rm -rf $@; exit 1; }
	@touch $@

# OpenAI's client, and a Node.js for it if the host's is too old.
.build/openai-client/node_modules: daemon/web/openai/testdata/client/package-lock.json
	@command -v npm >/dev/null || packaging/need npm
	@mkdir -p $(@D)
	cp daemon/web/openai/testdata/client/package.json $< $(@D)
	$(NPM_CI) --prefix $(@D) || { rm -rf $@; exit 1; }
	node -e 'process.exit(Number(parseInt(process.versions.node) < 20))' || packaging/again npm install --prefix $(@D) --no-save --no-audit --no-fund node@22 || { rm -rf $@; exit 1; }
	@touch $@

# The npm packages that the page uses and is checked with, as its lock file pins
# them. Those that it uses are in the repository (static/vendor).
.build/page/node_modules: daemon/web/static/package-lock.json
	@command -v npm >/dev/null || packaging/need npm
	@mkdir -p $(@D)
	cp daemon/web/static/package.json $< $(@D)
	$(NPM_CI) --prefix $(@D) || { rm -rf $@; exit 1; }
	@touch $@

vendor: .build/page/node_modules ## update daemon/web/static/vendor after a change of its package.json
	npm install --prefix daemon/web/static --package-lock-only --omit-lockfile-registry-resolved=true --no-audit --no-fund
	cp daemon/web/static/package.json daemon/web/static/package-lock.json .build/page
	$(NPM_CI) --prefix .build/page
	cp .build/page/node_modules/lit-html/lit-html.js daemon/web/static/vendor/lit-html.js
	cp .build/page/node_modules/lit-html/LICENSE daemon/web/static/vendor/lit-html.LICENSE
	cp .build/page/node_modules/lean-qr/index.mjs daemon/web/static/vendor/lean-qr.js
	cp .build/page/node_modules/lean-qr/LICENSE daemon/web/static/vendor/lean-qr.LICENSE
	cp .build/page/node_modules/@fontsource/bevan/files/bevan-latin-400-normal.woff2 daemon/web/static/vendor/bevan.woff2
	cp .build/page/node_modules/@fontsource/bevan/LICENSE daemon/web/static/vendor/bevan.LICENSE
	cd daemon/web/static/vendor && sha256sum *.js *.woff2 *.LICENSE >SHA256SUMS

# What makes the types of the page from the schemas of the API, as its lock file pins it.
.build/types/node_modules: daemon/web/openapi/types/package-lock.json
	@command -v npm >/dev/null || packaging/need npm
	@mkdir -p $(@D)
	cp daemon/web/openapi/types/package.json $< $(@D)
	$(NPM_CI) --prefix $(@D) || { rm -rf $@; exit 1; }
	@touch $@

API_TYPES  := node .build/types/node_modules/openapi-typescript/bin/cli.js daemon/web/openapi/components.json \
	--root-types --root-types-no-schema-prefix --root-types-keep-casing --default-non-nullable false

types: .build/page/node_modules .build/types/node_modules ## check the page's scripts against their JSDoc types
	cd daemon/web/static/vendor && sha256sum --quiet -c SHA256SUMS
	@$(API_TYPES) -o .build/types/api.d.ts >/dev/null
	@cmp .build/types/api.d.ts daemon/web/static/page/api.d.ts || { echo 'types: run "make generate"' >&2; exit 1; }
	node .build/page/node_modules/typescript/bin/tsc -p daemon/web/static

test: parts build ## every test, with the race detector and real parts
	@mkdir -p .build
	@rm -f .build/test-*.json .build/reruns-*.txt
	@packaging/passed begin
	@# The other tests are compiled while the processors are mostly idle.
	@nice -n 19 go list -race -test -export $(OTHERS) >/dev/null & \
	packaging/phase realtime "$(REALTIME)" -race -timeout 60m -p 1; status=$$?; wait; exit $$status
	@# Neither of these two phases keeps the processors busy.
	packaging/phase whole "$(NORACE)" -trimpath -timeout 60m -p 1 & \
	packaging/phase race "$(OTHERS)" -race -timeout 60m -skip '$(PROGRAMS)' -p $$(($$(nproc) + 1)); race=$$?; \
	wait $$! || { packaging/reruns; echo "test: phase whole failed" >&2; exit 1; }; exit $$race
	packaging/phase sampled "$(SAMPLED)" -race -short -timeout 60m
	@packaging/reruns
	@packaging/noskips .build/test-*.json
	@packaging/passed end

test-short: bin/libonnxruntime.so ## the tests that need no browser, sound server or child process
	go test -short ./...

test-crash: parts build ## every power cut, the long kill tests, and a whole game of every kind
	PRESSBOX_CRASH_STATES=all go test -timeout 60m -run 'Power|diskFails' -v ./daemon/recovery ./daemon/disktest
	PRESSBOX_CRASH_ROUNDS=200 go test -timeout 60m -run 'Crash|Kill' -v ./store ./daemon
	PRESSBOX_CRASH_ROUNDS=20 go test -timeout 60m -run TestMQTT_faults -v ./daemon
	PRESSBOX_CRASH_ROUNDS=1000 go test -timeout 60m -run Crash -v ./game/live
	PRESSBOX_CRASH_ROUNDS=1 go test -timeout 60m -run TestWholeGames -v ./daemon/web/play

deb: ## dist/pressbox_VERSION_{amd64,arm64,armhf}.deb, each with a bill of materials
	@packaging/deb/build $(VERSION)

repo: ## dist/repo, an apt repository of the packages in dist/: make repo REPO_KEY=FINGERPRINT REPO_URL=https://HOST/PATH
	@packaging/repo/build "$(REPO_KEY)" "$(REPO_URL)"

image: ## dist/pressbox-VERSION-{amd64,rpi-arm64}.img.xz, disks to flash: make image [IMAGE=amd64|arm64] [REPO_URL=https://HOST/PATH]
	@REPO_URL="$(REPO_URL)" packaging/image/build $(VERSION) $(IMAGE)

image-same: ## build the images twice, and compare them
	@REPO_URL="$(REPO_URL)" packaging/image/same $(VERSION) $(IMAGE)

release: ## dist/: packages, images, repository, checksums, signatures and notes of a version: make release REPO_KEY=… REPO_URL=…
	@packaging/release/build "$(REPO_KEY)" "$(REPO_URL)"

test-package: ## the package on a booted Debian 12 and 13: install, activate, kill, upgrade, remove
	@packaging/installed/run

test-image: build ## the images on emulated computers: first word, pressbox.txt, power cuts, wall display, upgrade (hours)
	@packaging/image/imagetest/run

check: lint types ## static checks: format, vet, lint, vocabulary, types, floors, dead code, generated files
	@packaging/again go mod download
	go mod verify
	go vet ./...
	GOARCH=arm CGO_ENABLED=0 go build $$(go list -f '{{if .GoFiles}}{{.ImportPath}}{{end}}' ./... | grep -vE '/(daemon|cli|doctor|onnx|speak|voicetest|crashtest|disktest)$$') # 32-bit integers; those left out need cgo or, for tests, FUSE on 64 bits
	go mod tidy -diff
	go test -count=1 -run 'TestFloors|TestGenerated' ./daemon/...
	go test -count=1 $(STATIC)
	@out=$$(packaging/again $(DEADCODE) -test ./... && $(DEADCODE) ./daemon); [ -z "$$out" ] || { echo "$$out"; exit 1; }

lint: $(LINT)
	$(LINT) fmt --diff
	$(LINT) run

fmt: $(LINT)
	$(LINT) fmt

$(LINT):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) packaging/again go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
	mv $(TOOLS)/golangci-lint $@

generate: .build/types/node_modules ## generate documents, schemas, types and tables from the code
	go generate ./...
	$(API_TYPES) -o daemon/web/static/page/api.d.ts

# Snapcast, and the libraries that it needs.
.build/snapserver .build/snapclient:
	@packaging/unpack $(@F) usr/bin/$(@F) $@.new
	@packaging/need $$(apt-cache depends $(@F) | sed -n 's/^ *Depends: \(lib[^ ]*\)$$/\1/p')
	@mv $@.new $@

bench: parts build .build/snapserver .build/snapclient ## the benchmarks, with ratios against a limit or a peer
	@packaging/bench

fuzz: parts ## every fuzz target for FUZZTIME
	@packaging/fuzz $(FUZZTIME)

voice: build ## train the bundled voices again, in .build/voice (hours; models/train/README.md)
	@models/train/make $(CURDIR)/.build/voice

clean:
	rm -rf bin .build dist
