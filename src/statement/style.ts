import { lightTheme } from '../charts/index.ts';

const keys = lightTheme.series
  .map((color, index) => `ul.keys .key-series-${index + 1}::before{background:${color}}`)
  .join('');

/** The style sheet of a statement: for a screen, and for paper (A4). */
export const style = `
@page{size:A4;margin:16mm 14mm 18mm}
@page{@bottom-right{content:counter(page) " / " counter(pages);font:9px system-ui,sans-serif;color:#5b6472}}
*{box-sizing:border-box}
body{margin:0 auto;padding:28px 32px 40px;max-width:980px;background:#fff;color:#1f2430;font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:25px;margin:0}
h2{font-size:17px;margin:26px 0 6px}
p{margin:4px 0}
.state{color:#5b6472}
.draft{border:2px solid #b3261e;color:#b3261e;font-weight:650;padding:6px 10px;border-radius:6px}
dl.tiles{display:grid;grid-template-columns:repeat(3,1fr);gap:14px;margin:18px 0}
.tile{border:1px solid #d5d9e0;border-radius:8px;padding:10px 14px}
dt{color:#5b6472;font-size:13px}
dd{margin:0}
.big{font-size:24px;font-weight:650;font-variant-numeric:tabular-nums}
.note{color:#5b6472;font-size:12.5px}
.charts{display:grid;grid-template-columns:1fr 1fr;gap:18px}
figure{margin:0;min-width:0}
figcaption{font-weight:650;margin:0 0 6px}
figure svg{display:block;width:100%;height:auto}
ul.keys{display:flex;flex-wrap:wrap;gap:1px 14px;margin:4px 0 0;padding:0;list-style:none;font-size:12.5px}
ul.keys li::before{content:"";display:inline-block;width:12px;height:9px;border-radius:2px;margin-right:5px;background:${lightTheme.rest}}
${keys}
table{border-collapse:collapse;width:100%;font-size:13px}
th{text-align:left;color:#5b6472;font-weight:600;border-bottom:1px solid #5b6472;padding:4px 10px 4px 0;vertical-align:bottom}
td{border-bottom:1px solid #e3e6eb;padding:4px 10px 4px 0;vertical-align:top;overflow-wrap:anywhere}
tfoot td{font-weight:650;border-top:1px solid #5b6472;border-bottom:3px double #5b6472}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;padding-left:10px;padding-right:0}
td.number+td:not(.number),th.number+th:not(.number){padding-left:14px}
.bad{color:#b3261e;font-weight:650}
.sign{display:grid;grid-template-columns:1fr 1fr;gap:0 40px;margin-top:34px}
.sign div{border-top:1px solid #1f2430;padding-top:4px;margin-top:44px;color:#5b6472;font-size:12.5px}
footer{margin-top:30px;border-top:1px solid #d5d9e0;padding-top:8px;color:#5b6472;font-size:11.5px;overflow-wrap:anywhere}
@media (max-width:640px){body{padding:16px}dl.tiles,.charts,.sign{grid-template-columns:1fr}section{overflow-x:auto}td{overflow-wrap:break-word}}
@media print{body{max-width:none;padding:0;font-size:10.5px}table{font-size:9.5px}h1{font-size:20px}h2{font-size:13px;margin-top:14px;break-after:avoid}dt,.note,ul.keys,.sign div{font-size:9.5px}.big{font-size:17px}th,td{padding-top:2px;padding-bottom:2px}dl.tiles{margin:12px 0}.sign{margin-top:8px}footer{margin-top:16px;font-size:8.5px;break-inside:avoid}thead{display:table-header-group}tfoot{display:table-row-group}tr,figure,.tile,.sign{break-inside:avoid}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;
