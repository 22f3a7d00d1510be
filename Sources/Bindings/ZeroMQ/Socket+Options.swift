import CZMQ

extension Socket {
    /// What holds on this socket now, as libzmq tells it.
    ///
    /// ROUTER_MANDATORY (always on) and ROUTER_HANDOVER (always off) can be set but not read.
    public borrowing func currentOptions() throws(ZMQError) -> SocketOptions {
        handle.stir()
        let size = try Self.get(pointer, ZMQ_MAXMSGSIZE, Int64(0))
        var options = SocketOptions(frameBytesMax: Int(size))
        options.lingerMilliseconds = try number(ZMQ_LINGER)
        options.sendQueueMax = try number(ZMQ_SNDHWM)
        options.receiveQueueMax = try number(ZMQ_RCVHWM)
        options.isImmediate = try number(ZMQ_IMMEDIATE) != 0
        options.reconnectMilliseconds = try number(ZMQ_RECONNECT_IVL)
        options.reconnectMillisecondsMax = try number(ZMQ_RECONNECT_IVL_MAX)
        options.handshakeMilliseconds = try number(ZMQ_HANDSHAKE_IVL)
        options.backlog = try number(ZMQ_BACKLOG)
        return options
    }

    static func apply(
        _ options: SocketOptions, kind: SocketKind, to pointer: UnsafeMutableRawPointer
    ) throws(ZMQError) {
        try set(pointer, ZMQ_LINGER, options.lingerMilliseconds)
        try set(pointer, ZMQ_SNDHWM, options.sendQueueMax)
        try set(pointer, ZMQ_RCVHWM, options.receiveQueueMax)
        try set(pointer, ZMQ_MAXMSGSIZE, exactly: Int64(options.frameBytesMax))
        try set(pointer, ZMQ_IMMEDIATE, options.isImmediate ? 1 : 0)
        try set(pointer, ZMQ_RECONNECT_IVL, options.reconnectMilliseconds)
        try set(pointer, ZMQ_RECONNECT_IVL_MAX, options.reconnectMillisecondsMax)
        try set(pointer, ZMQ_HANDSHAKE_IVL, options.handshakeMilliseconds)
        try set(pointer, ZMQ_BACKLOG, options.backlog)
        guard kind == .router else { return }
        // Without it a message to a peer that has gone vanishes without an error.
        try set(pointer, ZMQ_ROUTER_MANDATORY, 1)
        // A newcomer must never take over the routing id of a live peer.
        try set(pointer, ZMQ_ROUTER_HANDOVER, 0)
    }

    private borrowing func number(_ option: Int32) throws(ZMQError) -> Int {
        Int(try Self.get(pointer, option, Int32(0)))
    }

    private static func set(
        _ pointer: UnsafeMutableRawPointer, _ option: Int32, _ value: Int
    ) throws(ZMQError) {
        guard let narrow = Int32(exactly: value) else { throw .invalidArgument }
        try set(pointer, option, exactly: narrow)
    }

    private static func set<Value: FixedWidthInteger>(
        _ pointer: UnsafeMutableRawPointer, _ option: Int32, exactly value: Value
    ) throws(ZMQError) {
        try zmq {
            withUnsafeBytes(of: value) { czmq_set(pointer, option, $0.baseAddress, $0.count) }
        }
    }

    static func get<Value: FixedWidthInteger>(
        _ pointer: UnsafeMutableRawPointer, _ option: Int32, _ initial: Value
    ) throws(ZMQError) -> Value {
        var value = initial
        var size = MemoryLayout<Value>.size
        try zmq {
            withUnsafeMutableBytes(of: &value) {
                czmq_get(pointer, option, $0.baseAddress, &size)
            }
        }
        return value
    }
}
