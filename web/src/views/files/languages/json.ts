/** The language json of the editor, in a file of its own that is loaded with the first such file. */
export { json } from "@codemirror/lang-json";
