import Glibc
import ImageModel
import Imagebus
import Linux
import Messages
import StackAccess

/// Whether a stack runs, whether this user may use it, and whether an image goes through it.
enum StackFindings {
    static func all(_ options: DoctorOptions) -> [DoctorFinding] {
        let route: StackRoute
        do throws(ImageError) {
            guard let found = try Self.route(options.stack) else {
                let place = options.stack.runtimeDirectory
                let says = "none runs in \(place.path)"
                // Who names one expects it.
                return [
                    place.isNamed
                        ? .missing(
                            "stack", says, mend: "imagebus serve --runtime-dir \(place.path)")
                        : .ok(
                            "stack",
                            "\(says): imagebus get starts one of its own, imagebus serve "
                                + "one for all")
                ]
            }
            route = found
        } catch {
            return [
                .missing(
                    "stack", "\(error)",
                    mend:
                        "name the one that is meant with --runtime-dir, or --endpoint; usermod -a "
                        + "-G imagebus-clients USER lets a user load images of an installed one")
            ]
        }
        let sockets = sockets(route)
        guard sockets.allSatisfy({ $0.state == .ok }), access(route.paths.adminSocket, W_OK) == 0
        else { return sockets }
        return sockets + report(options.stack)
            + canary(StackCanary(milliseconds: options.milliseconds).run(route))
    }

    private static func route(_ stack: OperatorOptions) throws(ImageError) -> StackRoute? {
        if let endpoint = stack.endpoint { return try StackRoute(endpoint: endpoint) }
        return try StackRoute(in: stack.runtimeDirectory, asOperator: true)
    }

    private static func sockets(_ route: StackRoute) -> [DoctorFinding] {
        let (front, admin) = (route.paths.frontSocket, route.paths.adminSocket)
        let user = CurrentProcess.userID
        guard access(front, F_OK) == 0 || access(route.paths.root, X_OK) != 0 else {
            return [
                .missing(
                    "stack", "nobody serves \(front)",
                    mend: "imagebus serve --runtime-dir \(route.paths.root)")
            ]
        }
        guard access(front, R_OK | W_OK) == 0 else {
            return [
                .missing(
                    "front socket", "user \(user) may not write to \(front)",
                    mend: "usermod -a -G imagebus-clients USER, and log in anew")
            ]
        }
        let isOperator = access(admin, R_OK | W_OK) == 0
        return [
            .ok("front socket", "user \(user) may load images at \(front)"),
            .ok(
                "admin socket",
                isOperator
                    ? "user \(user) is an operator at \(admin)"
                    : "\(admin) is for operators: status, cache and the look at an image that goes "
                        + "through are for them"),
        ]
    }

    private static func report(_ stack: OperatorOptions) -> [DoctorFinding] {
        do throws(ImageError) {
            let report = try OperatorQuery.ask(stack) { client throws(ImageError) in
                try await client.status()
            }
            guard let complaint = HealthCommand.complaint(report) else {
                let seconds = report.uptimeMilliseconds / 1_000
                return [.ok("stack", "\(report.processes.count) processes, for \(seconds) s")]
                    + disks(report) + GroupFindings(report).all
            }
            return [
                .missing(
                    "stack", complaint,
                    mend: "imagebus status, and the log of serve (journalctl -u 'imagebus-*')")
            ] + GroupFindings(report).all
        } catch {
            return [
                .missing(
                    "stack", "\(error)", mend: "imagebus drain coordinator, or start serve anew")
            ]
        }
    }

    /// Disk caches that do not work: loads go on without them.
    static func disks(_ report: StatusReport) -> [DoctorFinding] {
        report.caches.filter { $0.disk == .degraded }.map { cache in
            .short(
                "disk cache", cache.diskReason,
                mend: "repair the file system under --cache-dir: the cache tries it by itself")
        }
    }

    static func canary(_ steps: [StackCanary.Step]) -> [DoctorFinding] {
        guard let last = steps.last, last.error != nil else {
            let spent = steps.map { "\($0.stage.rawValue) \(Int($0.milliseconds.rounded())) ms" }
            return [.ok("canary", "an image goes through: \(spent.joined(separator: ", "))")]
        }
        return [
            .missing(
                "canary", last.sentence,
                mend: "imagebus status; imagebus drain \(last.stage.rawValue) starts it anew")
        ]
    }
}
