// Added to a copy of the page for the test in a browser: says what a reader's eyes would meet.
(function () {
  'use strict';
  document.querySelectorAll('details').forEach(function (d) { d.open = true; });
  var faults = [];
  function fault(text) { if (faults.length < 20) faults.push(text); }
  var width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) {
    fault('the page is ' + document.documentElement.scrollWidth + ' px wide in a window of ' + width);
  }
  var smallest = Infinity;
  function seen(element, size) {
    smallest = Math.min(smallest, size);
    if (size < 11.95) fault(size.toFixed(2) + ' px: ' + element.textContent.slice(0, 40));
  }
  var overlaps = 0;
  var pictures = document.querySelectorAll('svg[role=img]');
  pictures.forEach(function (svg) {
    var frame = svg.getBoundingClientRect();
    var scale = frame.width / svg.viewBox.baseVal.width;
    var boxes = [];
    svg.querySelectorAll('text').forEach(function (text) {
      seen(text, parseFloat(getComputedStyle(text).fontSize) * scale);
      var box = text.getBoundingClientRect();
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 ||
          box.bottom > frame.bottom + 1) {
        fault(svg.id + ': a label leaves its picture: ' + text.textContent);
      }
      boxes.forEach(function (other) {
        var x = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
        var y = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
        if (x > 1 && y > 4) {
          ++overlaps;
          fault(svg.id + ': labels overlap: ' + text.textContent + ' | ' + other.text);
        }
      });
      boxes.push({box: box, text: text.textContent});
    });
  });
  document.querySelectorAll('p,li,td,th,h1,h2,h3,h4,figcaption,summary,span,b').forEach(function (e) {
    seen(e, parseFloat(getComputedStyle(e).fontSize));
  });
  parent.postMessage(JSON.stringify({
    width: width, height: document.documentElement.scrollHeight, pictures: pictures.length,
    smallest: smallest, overlaps: overlaps, faults: faults
  }), '*');
})();
