// Browsers do not let pages in files read other pages, so the search shows only their titles there.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// A link to a language's section selects its tab.
function select_tab() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const label = target && target.closest(".tab-label");
  if (label) label.click();
}
addEventListener("hashchange", select_tab);
addEventListener("DOMContentLoaded", select_tab);
