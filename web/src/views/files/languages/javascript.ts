/** The language javascript of the editor, in a file of its own that is loaded with the first such file. */
export { javascript } from "@codemirror/lang-javascript";
