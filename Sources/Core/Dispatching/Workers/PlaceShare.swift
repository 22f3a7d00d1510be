/// As what a job counts among those that workers hold.
enum PlaceShare: Sendable {
    /// Of the classes above low.
    case full
    /// Of class low, which has a share of its own.
    case low
    /// Of the share of class low, too, but in nobody's way: it ends where other work waits.
    case expendable
}
