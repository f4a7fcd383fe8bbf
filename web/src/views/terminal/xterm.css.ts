/** The style sheet of xterm, loaded with it. */
import "@xterm/xterm/css/xterm.css";
