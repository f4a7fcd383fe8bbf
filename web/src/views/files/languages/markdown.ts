/** The language markdown of the editor, in a file of its own that is loaded with the first such file. */
export { markdown } from "@codemirror/lang-markdown";
