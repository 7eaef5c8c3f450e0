"use strict";
// Unpack content in gzip and base64 as a response: `.json()` is data, and `.blob()` a file.
function unpacked(letters) {
  const bytes = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}
