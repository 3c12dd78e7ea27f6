package browsertest_test

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"

	"pressbox/daemon/browsertest"
	"pressbox/packaging/check"
)

// A page that draws its elements again all the time can be clicked on.
func TestDo_replacedElements(t *testing.T) {
	t.Parallel()
	check.Part(t, "chromium-headless-shell")
	const page = `data:text/html,<div></div><script>
		let clicks = 0;
		const draw = () => {
			document.querySelector("div").innerHTML = "<button onclick=clicks++>Again</button>";
			setTimeout(draw);
		};
		draw();
	</script>`
	allocator, stop := chromedp.NewExecAllocator(t.Context(), browsertest.Options()...)
	defer stop()
	browser, end := chromedp.NewContext(allocator)
	defer end()
	check.NoError(t, chromedp.Do(browser)) // starts it; a deadline would end it
	ctx, cancel := context.WithTimeout(browser, browsertest.MaxWait)
	defer cancel()
	check.NoError(t, browsertest.Do(ctx, chromedp.Navigate(page)))
	for range 100 {
		check.NoError(t, browsertest.Do(ctx, chromedp.Focus("button")))
	}
}
