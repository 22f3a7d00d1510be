import Model
import TestKit

@testable import Coordinator

/// Workers of several pools come and go; jobs are added, completed and canceled in any order.
struct PoolWalk {
    private var bench: PoolBench
    private var random: SeededGenerator
    private var held: [JobID: (worker: WorkerID, format: ImageFormat)] = [:]
    private var formats: [JobID: ImageFormat] = [:]
    private var workers: [WorkerID: String] = [:]
    private(set) var faults: [String] = []

    private static let all: [ImageFormat] = [.jpeg, .png, .gif, .svg, .pdf, .bmp]
    private let names = ["vector", "plain", "decode"]

    init(_ pools: [WorkerPool], seed: UInt64) {
        bench = PoolBench(pools)
        random = SeededGenerator(seed: seed)
    }

    mutating func step() {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: hire()
        case 1:
            if let worker = workers.keys.sorted().randomElement(using: &random) { leave(worker) }
        case 2: if let job = formats.keys.sorted().randomElement(using: &random) { abandon(job) }
        case 3...6: submit()
        default: if let job = held.keys.sorted().randomElement(using: &random) { finish(job) }
        }
        look()
    }

    /// Workers for every job are present: nothing may remain queued.
    mutating func end() {
        for name in names {
            workers[bench.hire(name, credit: 8)] = name
            look()
        }
        while let job = held.keys.min() {
            finish(job)
            look()
        }
        if !bench.dispatcher.isIdle { faults.append("something is left: \(formats)") }
    }

    private mutating func hire() {
        guard workers.count < 6, let name = names.randomElement(using: &random) else { return }
        workers[bench.hire(name, credit: UInt32(1 + Int.random(in: 0..<3, using: &random)))] = name
    }

    private mutating func leave(_ worker: WorkerID) {
        workers[worker] = nil
        held = held.filter { $0.value.worker != worker }
        bench.leave(worker)
    }

    private mutating func submit() {
        guard formats.count < 200, let format = Self.all.randomElement(using: &random) else {
            return
        }
        let priority = Priority.allCases.randomElement(using: &random) ?? .normal
        let job = bench.decode(format, priority)
        formats[job] = format
    }

    private mutating func abandon(_ job: JobID) {
        bench.abandon(job)
        formats[job] = nil
    }

    private mutating func finish(_ job: JobID) {
        guard let (worker, format) = held.removeValue(forKey: job) else { return }
        formats[job] = nil
        bench.finish(job, format, by: worker)
    }

    private mutating func look() {
        for assignment in bench.assignments() { check(assignment) }
        for (job, error) in bench.failures() {
            let format = formats.removeValue(forKey: job)
            held[job] = nil
            // A worker may have been lost too often.
            let isRight = error.code == (format == .bmp ? .unsupportedFormat : .workerLost)
            if !isRight { faults.append("\(String(describing: format)) failed: \(error)") }
        }
        faults += bench.faults
        if !bench.expelled.isEmpty { faults.append("somebody was expelled") }
    }

    private mutating func check(_ assignment: PoolBench.Assignment) {
        guard let format = formats[assignment.job] else {
            return faults.append("nobody wants \(assignment.job)")
        }
        held[assignment.job] = (assignment.worker, format)
        let name = workers[assignment.worker] ?? ""
        let wanted = Self.pool(of: format)
        if !name.isEmpty, name != wanted {
            faults.append("\(format) is at \(name), not at \(wanted)")
        }
    }

    private static func pool(of format: ImageFormat) -> String {
        switch format {
        case .svg, .pdf: "vector"
        case .jpeg: "plain"
        default: "decode"
        }
    }
}
