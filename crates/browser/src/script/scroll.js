// Scrolls the page, or what scrolls around an element.
(function (to, pages) {
  const page = document.scrollingElement || document.documentElement;
  let scroller = page;
  if (page.scrollHeight <= innerHeight + 1) {
    const all = [...document.querySelectorAll("*")].filter((it) => it.scrollHeight > it.clientHeight + 1 && it.clientHeight > 100 && /auto|scroll/.test(getComputedStyle(it).overflowY));
    all.sort((a, b) => b.clientHeight * b.clientWidth - a.clientHeight * a.clientWidth);
    scroller = all[0] || page;
  }
  const height = scroller === page ? innerHeight : scroller.clientHeight;
  const top = to === "top" ? 0 : to === "bottom" ? scroller.scrollHeight : scroller.scrollTop + pages * height * 0.9;
  scroller.scrollTo({ top, behavior: "instant" });
  return { top: Math.round(scroller.scrollTop), height: Math.round(scroller.scrollHeight), view: Math.round(height) };
})
