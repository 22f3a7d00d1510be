package import Messages

/// The status in the text exposition format of Prometheus, version 0.0.4: base units, one family
/// after the other, the same families in the same order each time.
package enum MetricsText {
    package static func text(_ report: StatusReport) -> String {
        families(report).map(\.text).joined()
    }

    private static func families(_ report: StatusReport) -> [MetricFamily] {
        [uptime(report)] + processes(report) + PoolMetrics.families(report.pools)
            + stages(report) + cancellations(report) + [transfers(report)] + counters(report)
            + StoreMetrics.families(report.caches) + NamedCacheMetrics.families(report.caches)
            + ReadOnlyMetrics.families(report.caches) + sockets(report)
    }

    private static func uptime(_ report: StatusReport) -> MetricFamily {
        var family = MetricFamily(
            "imagebus_uptime_seconds", .gauge, "Seconds since the coordinator started.")
        family.add(Double(report.uptimeMilliseconds) / 1_000)
        return family
    }

    /// By kind: a process id is another one tomorrow.
    private static func processes(_ report: StatusReport) -> [MetricFamily] {
        var counts = MetricFamily(
            "imagebus_processes", .gauge, "Processes that are connected, by kind and state.")
        var restarts = MetricFamily(
            "imagebus_process_restarts", .gauge,
            "How often the processes that are connected were restarted, as their supervisors say.")
        var jobs = MetricFamily("imagebus_worker_jobs", .gauge, "Jobs that workers hold.")
        var credit = MetricFamily(
            "imagebus_worker_credit", .gauge, "Jobs that workers take at a time.")
        for kind in WorkerKind.allCases {
            let members = report.processes.filter { $0.kind == kind }
            let label = [(name: "kind", value: kind.name)]
            for state in ["ready", "busy", "draining"] {
                let count = members.count { $0.state == state }
                counts.add(UInt64(count), label + [("state", state)])
            }
            restarts.add(sum(members.map(\.restarts)), label)
            guard kind != .coordinator else { continue }
            jobs.add(sum(members.map(\.jobs)), label)
            credit.add(sum(members.map(\.credit)), label)
        }
        for name in Set(report.fronts.map(\.process.name)).sorted() {
            let members = report.fronts.filter { $0.process.name == name }
            let label = [(name: "kind", value: name)]
            counts.add(UInt64(members.count), label + [("state", "ready")])
            restarts.add(sum(members.map(\.process.restarts)), label)
        }
        return [counts, restarts, jobs, credit]
    }

    private static func sum(_ numbers: [UInt32]) -> UInt64 {
        numbers.reduce(0) { $0 + UInt64($1) }
    }

    private static func stages(_ report: StatusReport) -> [MetricFamily] {
        var requests = MetricFamily(
            "imagebus_request_duration_seconds", .histogram,
            "From admission to reply, without requests that the index of hits answered.")
        requests.add(report.requests)
        var queued = MetricFamily("imagebus_stage_queued_jobs", .gauge, "Jobs that wait.")
        var cost = MetricFamily(
            "imagebus_stage_queued_cost", .gauge,
            "What the jobs that wait cost, in the unit of the stage.")
        var running = MetricFamily("imagebus_stage_running_jobs", .gauge, "Jobs at workers.")
        var waits = MetricFamily(
            "imagebus_stage_wait_seconds", .histogram, "How long jobs waited for a worker.")
        var works = MetricFamily(
            "imagebus_stage_work_seconds", .histogram, "How long workers took, as they said.")
        for stage in report.stages {
            let label = [(name: "stage", value: stage.stage)]
            queued.add(stage.queued, label)
            cost.add(stage.queuedCost, label)
            running.add(stage.running, label)
            waits.add(stage.waits, label)
            works.add(stage.works, label)
        }
        return [requests, queued, cost, running, waits, works]
    }

    private static func cancellations(_ report: StatusReport) -> [MetricFamily] {
        var durations = MetricFamily(
            "imagebus_cancel_duration_seconds", .histogram,
            "From the cancel of a job until its worker was free.")
        var hard = MetricFamily(
            "imagebus_cancels_hard_total", .counter,
            "Cancels that ended the process, since native code did not heed them.")
        for stage in report.cancellations {
            let label = [(name: "stage", value: stage.stage)]
            durations.add(stage.durations, label)
            hard.add(stage.hard, label)
        }
        return [durations, hard]
    }

    private static func transfers(_ report: StatusReport) -> MetricFamily {
        var durations = MetricFamily(
            "imagebus_transfer_duration_seconds", .histogram,
            "How long the phases of transfers took that brought a body.")
        for times in report.transfers {
            durations.add(times.durations, [(name: "phase", value: times.phase)])
        }
        return durations
    }

    /// A counter that this version does not know is not hidden.
    private static func counters(_ report: StatusReport) -> [MetricFamily] {
        var families = CounterMetric.all.map { MetricFamily($0.metric, $0.kind, $0.help) }
        var others = MetricFamily(
            "imagebus_other", .untyped, "Counters and gauges of another version.")
        for counter in report.counters where !isCovered(counter.name) {
            let index = CounterMetric.all.firstIndex { $0.labels(of: counter.name) != nil }
            if let index, let labels = CounterMetric.all[index].labels(of: counter.name) {
                families[index].add(counter.value, labels)
            } else {
                others.add(counter.value, [("name", counter.name)])
            }
        }
        return families + [others]
    }

    private static func isCovered(_ counter: String) -> Bool {
        CounterMetric.covered.contains(counter)
            || CounterMetric.coveredPrefixes.contains { counter.hasPrefix($0) }
    }

    private static func sockets(_ report: StatusReport) -> [MetricFamily] {
        var messages = MetricFamily(
            "imagebus_socket_messages_total", .counter, "Messages through the coordinator.")
        var bytes = MetricFamily(
            "imagebus_socket_bytes_total", .counter, "Bytes of these messages, all frames.")
        var largest = MetricFamily(
            "imagebus_socket_largest_message_bytes", .gauge, "The largest message, in or out.")
        for socket in report.sockets {
            let label = [(name: "socket", value: socket.name)]
            messages.add(socket.messagesReceived, label + [("direction", "in")])
            messages.add(socket.messagesSent, label + [("direction", "out")])
            bytes.add(socket.bytesReceived, label + [("direction", "in")])
            bytes.add(socket.bytesSent, label + [("direction", "out")])
            largest.add(socket.largestMessage, label)
        }
        return [messages, bytes, largest]
    }
}
