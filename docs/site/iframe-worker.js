// A page that was opened as a file may not start workers: a hidden frame searches instead.
"use strict";

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      window.addEventListener("message", (event) => {
        if (event.source !== inside) return;
        const copy = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(copy);
        if (this.onmessage) this.onmessage(copy);
      });
      inside.document.open();
      inside.document.write(
        "<script>postMessage = (data) => parent.dispatchEvent(new MessageEvent('message', { data, source: window }));" +
          "importScripts = (...all) => all.reduce((before, src) => before.then(() => new Promise((done) => {" +
          "document.body.append(Object.assign(document.createElement('script'), { src, onload: done })); })), " +
          "Promise.resolve());</" + "script><body><script src='" + address + "'></" + "script>");
      inside.document.close();
      this.ready = new Promise((done) => inside.addEventListener("load", done));
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
