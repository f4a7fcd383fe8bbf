/** Paths of the project, and the lines of its tree. */
import type { FileNode } from "../../api/types.ts";

/** `/project/src/json.rs` is shown and addressed as `src/json.rs`. */
export const shortPath = (path: string): string => path.replace(/^\/project(?=\/|$)/, "").replace(/^\/+/, "");
export const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** A line of the tree. */
export interface TreeRow {
  path: string;
  name: string;
  depth: number;
  type: FileNode["type"];
  open: boolean;
}

/** The lines that are in sight, folders first, as they are folded. */
export function treeRows(nodes: readonly FileNode[], folders: ReadonlySet<string>, depth = 0, into: TreeRow[] = []): TreeRow[] {
  const order = (it: FileNode) => (it.type === "directory" ? 0 : 1);
  const sorted = [...nodes].sort((a, b) => order(a) - order(b) || (a.name ?? a.path).localeCompare(b.name ?? b.path, "en"));
  for (const node of sorted) {
    const path = shortPath(node.path);
    const isOpen = node.type === "directory" && folders.has(path);
    into.push({ path, name: node.name ?? fileName(path), depth, type: node.type, open: isOpen });
    if (isOpen) treeRows(node.children ?? [], folders, depth + 1, into);
  }
  return into;
}
