// Names for the types of the API that the page uses. They are in api.d.ts, which is generated from the server's structs.

type Api = import("./api").components["schemas"];
type Account = Api["Account"];
type Choice = Api["Choice"];
type Clock = Api["GameClock"];
type FieldingLine = Api["FieldingLine"];
type Form = Api["Form"];
type GameOptions = Api["GameOptions"];
type GameSide = Api["GameSide"];
type Lineup = Api["Lineup"];
type PitchingLine = Api["PitchingLine"];
type Play = Api["Play"];
type Player = Api["Player"];
type Present = Api["ManagerPresence"];
type Question = Api["Question"];
type Quiet = Api["Quiet"];
type Ratings = Api["Ratings"];
type Score = Api["Score"];
type Session = Api["Session"];
type Slot = Api["Slot"];
type TeamState = Api["TeamState"];
type Violation = Api["Violation"];
type Voice = Api["Voice"];
type Volume = Api["Volume"];
type Side = "home" | "away";
type Club = Api["TeamRef"] & { colors?: string[] };
/** The fields of an announcement that a client chooses; favorites and schedules have them as well. */
type Content = Omit<Api["Favorite"], "chime"> & { chime?: string };
type Schedule = Omit<Api["Schedule"], "chime"> & { chime?: string };
/** A frame of the websocket; its type says what d is. */
interface Frame { t: string; g?: string; rev?: number; cid?: string; d?: any }

// What the page relies on beyond the API: it asks for states and box scores of games that have started.

type With<T, K extends keyof T> = T & Required<Pick<T, K>>;
type Filled<T> = { [K in keyof T]: NonNullable<T[K]> };
type Announcement = With<Api["Announcement"], "voice" | "rate" | "priority">;
type State = With<Api["GameState"], "inning" | "half" | "outs" | "count" | "bases" | "score" | "teams">;
type Game = Omit<Api["Game"], "state" | "presence"> & { state?: State; presence?: Presence };
type EventBody = Omit<Api["GameEvent"], "state"> & { state?: State };
type Now = Omit<Api["Scoreboard"], "bases" | "count"> & { bases: (string | null)[]; count?: Api["Count"] };
type Presence = Partial<Api["GamePresence"]>;
type BattingLine = Filled<Api["BattingLine"]>;
type TeamBox = Omit<Filled<Api["TeamBox"]>, "batting"> & { batting: BattingLine[] };
type Box = Omit<Api["BoxScore"], "teams"> & { teams: TeamBox[] };

/** Makes a view. */
type Page = (page: PageContext) => View;
type Problem = import("./ui").Problem;

/** What the root gives to a view. */
interface PageContext {
  params: Record<string, string>;
  query: URLSearchParams;
  me: Account | null;
  update: () => Promise<void>; // resolves after rendering
  go: (path: string, replace?: boolean) => void;
}
interface View {
  title: () => string;
  render: () => unknown;
  updated?: () => void; // called after each rendering
  close?: () => void;
  bare?: boolean; // rendered without header and footer
  awake?: boolean; // keeps the screen on
}

/** What every part of the administration uses. The gate sends requests; when one needs the passphrase again, it asks for it and repeats the request. */
interface AdminShared { me: Account; update: () => Promise<void>; gate: AdminGate }
interface AdminGate { problem: Error | null; run<T>(send: () => Promise<T>): Promise<T | undefined>; render(): unknown }
interface AdminPart { render: () => unknown; close?: () => void }
type Part = (shared: AdminShared) => AdminPart;

// What the page makes of them.

interface Lines { runs: Record<Side, number[]>; hits: Score; errors: Score }
/** The fielders of both sides by position. */
type Nines = Record<Side, Record<string, string>>;
interface Scored { now: Now; lines: Lines; nines: Nines; rev?: number }
/** An event of a game, with the scoreboard after it. */
interface Entry extends Scored {
  rev: number; kind: string; text: string[];
  about: string; // the player whose surname begins the text, or ""
  inning: number; half: "top" | "bottom"; // of the event
  runs: number; // that scored
  win: number | undefined; // the home side's chance to win, 0–1
}
