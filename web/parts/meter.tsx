/** How much of a whole: a bar with its number in words for those who do not see it. */

interface MeterProps {
  readonly value: number;
  readonly of: number;
  /** Says the same as the bar, such as "7 of 30". */
  readonly label: string;
  readonly tone?: "wait" | "bad" | "idle" | undefined;
}

export function Meter({ value, of, label, tone }: MeterProps) {
  const percent = of <= 0 ? 0 : Math.min(100, (value / of) * 100);
  return (
    <svg class={tone === undefined ? "meter" : `meter ${tone}`} role="img" aria-label={label}>
      <rect class="bg" width="100%" height="6" rx="3" />
      <rect class="fg" width={`${percent}%`} height="6" rx="3" />
    </svg>
  );
}
