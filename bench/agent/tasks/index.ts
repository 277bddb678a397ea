/** All tasks of the bench. They were written before the first run; change one only if it is wrong. */

import type { Conversation } from "../task.ts";
import { ACROSS } from "./across.ts";
import { FOLDER } from "./folder.ts";
import { GRAPH_AND_SHOP } from "./graph-and-shop.ts";
import { MIXED } from "./mixed.ts";
import { SERVICES } from "./services.ts";

export const CONVERSATIONS: readonly Conversation[] = [FOLDER, GRAPH_AND_SHOP, SERVICES, ACROSS, MIXED];
