import Admission
import Bootstrap
import Messages
import Observability

// One line for each request that the operator wants to see.
extension Coordinator {
    mutating func log(_ record: RequestRecord, at now: Instant) {
        guard bootstrap.log.level <= .info, requestLog.wants(record) else { return }
        guard case .write(let leftOut) = requestLog.take(at: now) else { return }
        sayLeftOut(leftOut)
        bootstrap.log.write(.info, "request", fields: RequestLog.fields(record))
    }

    /// What a flood left out, said where there is room again, or at the end.
    func sayLeftOut(_ count: UInt64) {
        guard count > 0 else { return }
        bootstrap.log.warning("lines of requests were left out", ["count": LogValue(count)])
    }
}
