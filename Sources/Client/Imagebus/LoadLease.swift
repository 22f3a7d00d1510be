/// Cancels a load when it is released, as a view's load ends with the view. The load itself goes on
/// without anybody who holds its task.
///
///     final class Cell {
///         var picture: LoadLease?   // a new one in its place cancels the load before
///     }
///     cell.picture = LoadLease(client.load(request))
///
/// Releasing it after the end of the load does nothing.
public final class LoadLease: Sendable {
    /// The load.
    public let task: LoadTask

    /// The load lasts no longer than this.
    public init(_ task: LoadTask) { self.task = task }

    deinit { task.cancel() }
}
