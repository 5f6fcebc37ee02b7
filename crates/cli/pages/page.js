const answer = await fetch("/.well-known/netloom.json");
document.getElementById("server").textContent = JSON.stringify(await answer.json(), null, 2);
