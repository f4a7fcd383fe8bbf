// Runs before the first paint: sets the theme that was chosen last, so that the page does not flash in the other one.
(function () {
  var chosen = null;
  try { chosen = localStorage.getItem("monas.theme"); } catch (_) { /* storage is off: follow the system */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
