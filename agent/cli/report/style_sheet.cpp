#include "agent/cli/report/style_sheet.hpp"

namespace idletune::report {

// Colours are those of Okabe & Ito 2008, which people with any usual colour blindness tell
// apart; on dark paper lightened until text and lines stand out. Series differ in their dashes,
// too.
static constexpr std::string_view kStyleSheet = R"css(
:root{color-scheme:light dark;
--paper:#fff;--shade:#f4f6f8;--ink:#1b1f24;--soft:#57606a;--rule:#e4e7eb;--axis:#8c959f;
--blue:#0072b2;--red:#d55e00;--green:#009e73;--pink:#b8528b;--gold:#b97f00;--sky:#2b8fc9;--link:#0060a0}
@media (prefers-color-scheme:dark){:root{
--paper:#121518;--shade:#1c2126;--ink:#e7eaed;--soft:#a3acb5;--rule:#2b3138;--axis:#78828c;
--blue:#4fa9e2;--red:#f2843c;--green:#2fc79b;--pink:#df9cc3;--gold:#e8b53a;--sky:#8fd0f5;--link:#7cc0f0}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main,header,footer{max-width:1180px;margin:0 auto;padding:0 12px}
header{padding-top:20px}
h1{font-size:28px;line-height:1.2;margin:0 0 8px}
h2{font-size:22px;line-height:1.25;margin:48px 0 8px;padding-top:16px;border-top:1px solid var(--rule)}
h3{font-size:16px;line-height:1.35;margin:28px 0 4px}
h4{font-size:14px;line-height:1.35;margin:0 0 6px;overflow-wrap:anywhere}
h4 span{font-weight:400;color:var(--soft)}
p{margin:0 0 12px;max-width:72ch;overflow-wrap:anywhere}
a{color:var(--link)}
.small,figcaption,caption,.remark{font-size:14px;color:var(--soft);max-width:84ch}
.remark{margin:4px 0 0;font-size:13px}
.totals{display:flex;flex-wrap:wrap;gap:8px 32px;margin:16px 0;padding:0;list-style:none}
.totals b{display:block;font-size:22px;line-height:1.2;font-variant-numeric:tabular-nums}
.totals span{font-size:14px;color:var(--soft)}
nav ol{display:flex;flex-wrap:wrap;gap:4px 20px;margin:0;padding:0;list-style:none;font-size:15px}
nav a{display:inline-block;padding:4px 0}
figure{margin:0 0 8px}
figcaption{margin-top:12px;overflow-wrap:anywhere}
.panels{display:grid;gap:28px 32px;margin-top:12px;align-items:start;
grid-template-columns:repeat(auto-fill,minmax(min(100%,320px),1fr))}
.panels div{min-width:0}
svg{display:block;width:100%;height:auto;max-width:460px}
.legend{display:flex;flex-wrap:wrap;gap:2px 20px;margin:8px 0 0;padding:0;list-style:none;font-size:14px}
.legend li{display:flex;align-items:center;gap:8px}
.legend svg{width:32px;flex:none}
.scroll{overflow-x:auto;margin:8px 0 4px;border:1px solid var(--rule);border-radius:6px}
table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums;min-width:100%}
caption{caption-side:bottom;text-align:left}
th,td{padding:5px 10px;text-align:left;vertical-align:top;border-top:1px solid var(--rule)}
thead th{border-top:0;background:var(--shade);font-weight:600;vertical-align:bottom}
tbody th{font-weight:400}
td,tbody th{white-space:nowrap}
td.wide,th.wide{white-space:normal;overflow-wrap:anywhere;min-width:16em}
.n{text-align:right}
details{margin:12px 0}
summary{cursor:pointer;font-size:15px;padding:6px 0}
footer{margin-top:48px;padding-top:12px;padding-bottom:32px;border-top:1px solid var(--rule)}
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:var(--ink)}
text.strong{font-weight:600}
text.tick,text.name,text.note{fill:var(--soft)}
path,line{fill:none}
.rule{stroke:var(--rule);stroke-width:1}
.axis{stroke:var(--axis);stroke-width:1}
.threshold{stroke:var(--red);stroke-width:1;stroke-dasharray:3 3}
.violin{fill:var(--blue);fill-opacity:.45}
.good{fill:var(--red)}
.quartiles{stroke:var(--ink);stroke-width:3}
.median{stroke:var(--ink);stroke-width:2}
.span{stroke:var(--rule);stroke-width:4}
.interval{stroke:var(--blue);stroke-width:2;stroke-opacity:.6}
.dot{fill:var(--blue);fill-opacity:.75;stroke:var(--paper);stroke-width:1}
.corner{fill:var(--red);fill-opacity:.14}
.point{fill:var(--blue);fill-opacity:.75}
.cells{stroke:var(--blue);stroke-width:4;shape-rendering:crispEdges}
.d1{stroke-opacity:.22}.d2{stroke-opacity:.36}.d3{stroke-opacity:.5}
.d4{stroke-opacity:.66}.d5{stroke-opacity:.83}
.heat{stroke:var(--blue);stroke-width:8;shape-rendering:crispEdges}.high{stroke-width:16}
.h1{stroke-opacity:.1}.h2{stroke-opacity:.26}.h3{stroke-opacity:.42}
.h4{stroke-opacity:.6}.h5{stroke-opacity:.8}.h6{stroke:var(--red)}
.whisker{stroke:var(--blue);stroke-width:1.5}
.box{fill:var(--blue);fill-opacity:.28;stroke:var(--blue);stroke-width:1}
.mark{stroke:var(--soft);stroke-width:1;stroke-dasharray:2 3}
.curve{stroke-width:2;stroke-linejoin:round}
.band{fill-opacity:.16}
.s1{stroke:var(--blue)}.s2{stroke:var(--red)}
.s3{stroke:var(--green);stroke-dasharray:7 3}.s4{stroke:var(--pink);stroke-dasharray:2 3}
.s5{stroke:var(--gold);stroke-dasharray:9 3 2 3}.s6{stroke:var(--sky);stroke-dasharray:5 5}
.s7{stroke:var(--ink);stroke-width:1.3}
.b1{fill:var(--blue)}.b2{fill:var(--red)}.b3{fill:var(--green)}.b4{fill:var(--pink)}
.b5{fill:var(--gold)}.b6{fill:var(--sky)}.b7{fill:var(--ink)}
@media (max-width:480px){header{padding-top:12px}h1{font-size:22px}header p{font-size:14px}.totals{gap:4px 24px;margin:8px 0}
th,td{padding:4px 6px}tbody th:not(.wide),td:not(.n):not(.wide){white-space:normal;overflow-wrap:anywhere;min-width:5em;max-width:7em}}
@media print{details{display:block}.panels{break-inside:auto}.panels div{break-inside:avoid}}
)css";

std::string_view style_sheet() { return kStyleSheet; }

}  // namespace idletune::report
