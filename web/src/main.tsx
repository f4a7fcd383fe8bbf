/** Starts the page. */
import "./style/tokens.css";
import "./style/base.css";
import "./style/shell.css";
import "./style/parts.css";
import "./style/chat.css";
import "./style/question.css";
import "./style/narrow.css";
import { render } from "preact";
import { App } from "./shell/app.tsx";
import { connection } from "./state/app.ts";
import "./state/sessions.ts";
import "./state/notices.ts";

connection.tryNow();
render(<App />, document.getElementById("app")!);
