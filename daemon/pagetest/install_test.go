package pagetest_test

import (
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// locks counts the wake locks that the page holds.
const locks = `{
	globalThis.locks = 0;
	const request = navigator.wakeLock.request.bind(navigator.wakeLock);
	navigator.wakeLock.request = async (type) => {
		const lock = await request(type);
		if (type === "screen") locks++;
		lock.addEventListener("release", () => locks--);
		return lock;
	};
}`

// The wall display and a game keep the screen on and have a button for the full screen; other
// views do neither.
func TestScreen(t *testing.T) {
	b := begin(t)
	send(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: locks})
	send(b, browser.SetPermission, browser.SetPermissionParams{ // the headless shell refuses it otherwise
		Permission: &browser.PermissionDescriptor{Name: "screen-wake-lock"}, Setting: browser.PermissionSettingGranted,
		BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
	})
	b.join("Anna")
	id := b.newGame(map[string]string{"opponent": "bot"})
	b.handIn("home")
	for _, path := range []string{"/games/" + id, "/kiosk"} {
		b.open(path)
		b.await(`locks === 1`)
		b.focus(".screen", "\r") // a click could miss it, as the page still moves
		b.await(`document.fullscreenElement === document.documentElement`)
		b.says(".screen", "Exit full screen")
		b.focus(".screen", "\r")
		b.await(`!document.fullscreenElement`)
	}
	b.open("/games/" + id)
	b.await(`locks === 1`)
	b.is(`$("footer a[href='/about']").click()`) // loads no page
	b.says("main h1", "About")
	b.await(`locks === 0`)
	if b.is(`$(".screen")`) {
		t.Error("the page about Pressbox has a button for the full screen")
	}
}

// Chromium can install the page from a secure origin; at another one /about names what
// is missing.
func TestInstall(t *testing.T) {
	b := begin(t)
	b.open("/about")
	b.says("main", "Install Pressbox from your browser")
	manifest := send(b, page.GetAppManifest, page.GetAppManifestParams{})
	if len(manifest.Errors) > 0 || manifest.URL != b.URL+"/manifest.webmanifest" {
		t.Errorf("the manifest %s has errors: %v", manifest.URL, manifest.Errors)
	}
	found := send(b, page.GetInstallabilityErrors, cdp.Empty{})
	for _, e := range found.InstallabilityErrors {
		if e.ErrorID != "in-incognito" { // each tab of the tests is
			t.Errorf("not installable: %s %v", e.ErrorID, e.ErrorArguments)
		}
	}
	send(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `Object.defineProperty(window, "isSecureContext", { value: false });`,
	})
	b.open("/about")
	b.says("main", "only over https")
}
