"use strict";
new EventSource("/events").onmessage = (event) => {
    const snapshot = JSON.parse(event.data);
    document.getElementById("title").textContent = snapshot.title;
    const lines = snapshot.findings.map((each) => {
        const line = document.createElement("li");
        line.textContent = `${each.object}: ${each.text}`;
        return line;
    });
    document.getElementById("findings").replaceChildren(...lines);
};
