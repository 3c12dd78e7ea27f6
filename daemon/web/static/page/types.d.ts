// The API types that the page uses. The OpenAPI document has all of them.

interface Violation { path: string; code: string; detail: string }
interface Account { id: string; name: string; provider: string; created_at: string; admin?: boolean }
interface Session { id: string; current: boolean; device: string; network: string; method: string; age_seconds: number; idle_seconds: number }

/** The fields of an announcement that a client chooses; favorites and schedules have them as well. */
interface Content {
  title?: string; message: string; voice?: string; rate?: number; urgent?: boolean; priority?: number; volume?: number; chime?: string; ttl?: number;
  repeat?: { times: number; every: number }; room?: string | string[];
}
interface Announcement {
  id: string; status: string; position?: number; title?: string; message: string; voice: string; rate: number; urgent: boolean; priority: number;
  created_at: string; at?: string; speaks_at?: string; ended_at?: string; clock_unset?: boolean; quiet?: boolean;
  repeat?: { times: number; every: number; spoken: number; acknowledged?: boolean }; sender?: { kind: string; name?: string }; error?: string;
}
interface Schedule extends Content { id: string; name: string; cron: string; time_zone?: string; enabled: boolean; next_at?: string }
interface Volume { volume: number; muted: boolean }
interface Quiet { active: boolean; until?: string; mode: string; reason?: string }
interface Voice { name: string; label?: string; error?: string; speakers?: string[] }

type Side = "home" | "away";
interface Club { id: string; abbrev: string; name: string; short_name?: string; city?: string; color?: string; text_color?: string; colors?: string[]; logo_url?: string }
interface Ratings { contact: number; power: number; eye: number; speed: number; arm: number; glove: number; control: number; stuff: number; stamina: number }
interface Form { today: { batting?: Record<string, number>; pitching?: Record<string, number> } | null; pitches: number; fatigue: number }
interface Player extends Form {
  id: string; name: string; bats: string; throws: string; positions: string[]; number?: string; age?: number;
  ratings: Ratings; season: { batting: Record<string, any> | null; pitching: Record<string, any> | null } | null; rest_days: number; source: string;
}
interface Slot { player_id: string; position: string }
interface Lineup { batting_order: Slot[]; pitcher_id: string }
interface GameSide { team: Club; manager: { id?: string; name: string } | null; reserved?: { id?: string; name: string }; bot?: boolean; lineup_submitted: boolean; lineup?: Lineup }
interface GameOptions {
  dh: boolean; innings: number; extra_innings: string; side: string; opponent: string; turn_seconds: number; announce: string; visibility: string; mercy?: string; disengagements?: string; bot_level?: number; call_turn?: boolean;
}
interface Score { home: number; away: number }
interface Choice { action: Record<string, unknown>; label: string; group?: string; side?: Side; odds?: Record<string, number>; success?: string; runs?: number; win_probability?: number; coach?: boolean }
interface Game {
  id: string; status: "pending" | "active" | "finished"; created_at: string; started_at?: string; finished_at?: string; rev: number; season: number;
  home: GameSide; away: GameSide; options: GameOptions; you: "" | "home" | "away" | "both"; score?: Score; inning?: number; half?: "top" | "bottom";
  result?: { winner: string; how: string }; dice?: { commitment: string; seed?: string }; rematch?: string;
  rosters?: { home: { players: Player[] }; away: { players: Player[] } };
  state?: State; legal?: Choice[]; offers?: Choice[]; clock?: Clock; presence?: Presence; now?: Now; rematch_of?: string; reserved?: boolean;
  competition?: { id: string; kind: "league" | "series"; name: string };
  go_ahead?: { rev: number; inning: number; half: "top" | "bottom"; text: string };
}
interface TeamState { order: Slot[]; pitcher: string; dh: number; next: number; faced: number; bench: string[] | null; gone: string[] | null }
interface State {
  status: string; inning: number; half: "top" | "bottom"; outs: number; count: { balls: number; strikes: number };
  bases: { player?: string }[]; score: number[]; teams: TeamState[]; end?: string; batter?: string; pitcher?: string; batting?: Side;
  paused?: { by: string; since: string } | null; at_bat?: { batter: Form; pitcher: Form }; question?: Question | null; waiting?: Side[] | null; hash?: string;
}
interface Question { id: number; asker: Side; kind: string; ball?: { contact?: string; place?: string }; text: string }
interface Now {
  inning: number; half: "top" | "bottom"; outs: number; score: Score; bases: (string | null)[]; batter: string; pitcher: string;
  count?: { balls: number; strikes: number };
}
interface Play {
  kind: string; batter?: string; flags?: string[]; ball?: { contact?: string; place?: string }; touched?: string; runs: { to?: string; why?: string }[];
  outs?: { who: string; at?: string; by?: string }[]; errors?: { by: number }[] | null;
}
interface EventBody {
  kind: string; at: string; text?: string[] | null; now?: Now; win?: number; play?: Play; notation?: string; state?: State; legal?: Choice[]; offers?: Choice[];
  side?: Side; lineups?: Record<Side, Lineup>; substitutions?: { side: Side; player_id: string; position: string }[]; result?: { winner: string; how: string }; seed?: string; next?: string;
}
interface Frame { t: string; g?: string; rev?: number; cid?: string; d?: any }
interface Clock { side?: Side; ends_at?: string; left_ms: number }
interface Presence { home?: Present | null; away?: Present | null; watchers?: number }
interface Present { online: boolean; since?: string; gone_in?: number; gone?: boolean; decided?: boolean }

interface BattingLine { player_id: string; name: string; slot: number; positions: string[]; ab: number; r: number; h: number; rbi: number; bb: number; so: number; doubles: number; triples: number; hr: number; sb: number; lob: number; two_out_rbi: number }
interface PitchingLine { player_id: string; name: string; outs: number; h: number; r: number; er: number; bb: number; so: number; hr: number; pitches: number; strikes: number; hold: boolean; blown_save: boolean; quality_start: boolean }
interface FieldingLine { player_id: string; name: string; e: number; te: number }
interface TeamBox { line: number[] | null; runs: number; hits: number; errors: number; left_on_base: number; double_plays: number; batting: BattingLine[]; pitching: PitchingLine[]; fielding: FieldingLine[] }
interface Box { teams: TeamBox[]; winning_pitcher?: string; losing_pitcher?: string; save?: string }

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
